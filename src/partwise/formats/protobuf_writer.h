#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace partwise::formats {

// Bytes in Protocol Buffers' wire format, field after field. Field numbers and types are the
// schema's, which the caller knows.
class ProtobufWriter {
 public:
  void integer(int field, int64_t value);  // a negative one takes ten bytes
  void real(int field, float value);
  void wide_real(int field, double value);
  void text(int field, std::string_view bytes);  // strings and bytes alike
  // A message inside this one: `body` writes its fields. Its length goes in front afterwards, so
  // that a large model is never held twice.
  template <typename Body>
  void message(int field, Body&& body) {
    tag(field, Wire::length);
    const auto start = bytes_.size();
    body();
    insert_length(start);
  }

  void reserve(std::size_t size) { bytes_.reserve(size); }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  enum class Wire : uint64_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };
  void tag(int field, Wire wire);
  void little_endian(uint64_t bits, int size);
  void insert_length(std::size_t start);

  std::string bytes_;
};

}  // namespace partwise::formats
