#include "partwise/formats/base64.h"

#include <algorithm>
#include <cstdint>

namespace partwise::formats {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string encoded;
  encoded.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const char byte = k < count ? bytes[at + k] : '\0';
      group = (group << 8U) | static_cast<unsigned char>(byte);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      encoded += k <= count ? kDigits[(group >> (18U - 6U * k)) & 63U] : '=';
    }
  }
  return encoded;
}

}  // namespace partwise::formats
