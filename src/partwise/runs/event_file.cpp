#include "partwise/runs/event_file.h"

#include "partwise/formats/protobuf_writer.h"
#include "partwise/runs/log_scalars.h"

#include <array>
#include <bit>
#include <cmath>

namespace partwise::runs {
namespace {

// Field numbers of tensorflow.Event and tensorflow.Summary.
enum EventField { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum SummaryField { kValue = 1 };
enum ValueField { kTag = 1, kSimpleValue = 2 };

constexpr uint32_t kReflectedPolynomial = 0x82F63B78U;

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1U) ^ ((value & 1U) != 0 ? kReflectedPolynomial : 0U);
    table[byte] = value;
  }
  return table;
}();

// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected).
uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes)
    crc = (crc >> 8U) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
  return ~crc;
}

template <typename Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes.push_back(static_cast<char>(value >> (8U * i) & 0xFFU));
  return bytes;
}

std::string masked_crc(std::string_view bytes) {
  return little_endian(std::rotr(crc32c(bytes), 15) + 0xA282EAD8U);
}

std::string version_event(double time) {
  formats::ProtobufWriter event;
  event.wide_real(kWallTime, time);
  event.text(kFileVersion, "brain.Event:2");
  return event.take();
}

std::string row_event(const nlohmann::json& row, double time) {
  formats::ProtobufWriter event;
  event.wide_real(kWallTime, time);
  event.integer(kStep, std::llround(scalar_at(row, "epoch")));
  event.message(kSummary, [&] {
    for (const auto& [name, value] : scalars_of(row)) {
      if (name == "epoch") continue;
      event.message(kValue, [&, &tag = name, number = value] {
        event.text(kTag, tag);
        event.real(kSimpleValue, static_cast<float>(number));
      });
    }
  });
  return event.take();
}

}  // namespace

std::string tf_record(std::string_view data) {
  const auto length = little_endian(static_cast<uint64_t>(data.size()));
  std::string record = length + masked_crc(length);
  record += data;
  return record + masked_crc(data);
}

std::string event_file(const std::vector<nlohmann::json>& rows, double start) {
  double time = start;
  auto bytes = tf_record(version_event(time));
  for (const auto& row : rows) {
    time += scalar_at(row, "seconds");
    bytes += tf_record(row_event(row, time));
  }
  return bytes;
}

}  // namespace partwise::runs
