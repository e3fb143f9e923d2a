#include "partwise/formats/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace partwise::formats {
namespace {

// Bytes of the UTF-8 character at the front of `text`; 0 when it is none. Surrogates, overlong
// forms and what lies beyond U+10FFFF are none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const uint32_t lead = byte(0);
  if (lead < 0x80U) return 1;
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U) return 0;
  uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800U) || (length == 4 && code < 0x10000U);
  const bool surrogate = code >= 0xD800U && code < 0xE000U;
  return overlong || surrogate || code > 0x10FFFFU ? 0 : length;
}

// C0, DEL and C1: what a terminal may take for a command.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20U || first == 0x7FU;
  return first == 0xC2U && static_cast<unsigned char>(character[1]) < 0xA0U;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string shown;
  while (!text.empty() && shown.size() < limit) {
    const auto length = character_length(text);
    const auto character = text.substr(0, length == 0 ? 1 : length);
    if (length == 0 || is_control(character)) {
      for (const char byte : character) {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else {
      shown += character;
    }
    text.remove_prefix(character.size());
  }
  return text.empty() ? shown : shown + "...";
}

}  // namespace partwise::formats
