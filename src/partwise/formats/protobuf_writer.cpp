#include "partwise/formats/protobuf_writer.h"

#include <bit>

namespace partwise::formats {
namespace {

// Seven bits a byte, the lowest first; the top bit says that more follow.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80U; value >>= 7U) bytes.push_back(static_cast<char>(value | 0x80U));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

}  // namespace

void ProtobufWriter::tag(int field, Wire wire) {
  bytes_ += varint(static_cast<uint64_t>(field) << 3U | static_cast<uint64_t>(wire));
}

void ProtobufWriter::integer(int field, int64_t value) {
  tag(field, Wire::varint);
  bytes_ += varint(static_cast<uint64_t>(value));
}

void ProtobufWriter::real(int field, float value) {
  tag(field, Wire::fixed32);
  little_endian(std::bit_cast<uint32_t>(value), 4);
}

void ProtobufWriter::wide_real(int field, double value) {
  tag(field, Wire::fixed64);
  little_endian(std::bit_cast<uint64_t>(value), 8);
}

void ProtobufWriter::little_endian(uint64_t bits, int size) {
  for (int i = 0; i < size; ++i, bits >>= 8U) bytes_.push_back(static_cast<char>(bits & 0xFFU));
}

void ProtobufWriter::text(int field, std::string_view bytes) {
  tag(field, Wire::length);
  bytes_ += varint(bytes.size());
  bytes_ += bytes;
}

void ProtobufWriter::insert_length(std::size_t start) {
  bytes_.insert(start, varint(bytes_.size() - start));
}

}  // namespace partwise::formats
