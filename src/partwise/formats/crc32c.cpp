#include "partwise/formats/crc32c.h"

#include <array>

namespace partwise::formats {
namespace {

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

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes)
    crc = (crc >> 8U) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
  return ~crc;
}

}  // namespace partwise::formats
