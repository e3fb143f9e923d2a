#include "partwise/base/utf8.h"

#include <cstdint>

namespace partwise {
namespace {

struct Utf8Character {
  uint32_t code = 0;
  std::size_t length = 0;
};

Utf8Character front_character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const uint32_t lead = byte(0);
  if (lead < 0x80U) return {lead, 1};
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U) return {};
  uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800U) || (length == 4 && code < 0x10000U);
  const bool surrogate = code >= 0xD800U && code < 0xE000U;
  if (overlong || surrogate || code > 0x10FFFFU) return {};
  return {code, length};
}

}  // namespace

std::size_t character_length(std::string_view text) {
  return front_character(text).length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

char32_t take_character(std::string_view& text) {
  const Utf8Character front = front_character(text);
  text.remove_prefix(front.length == 0 ? 1 : front.length);
  return front.length == 0 ? kReplacementCharacter : static_cast<char32_t>(front.code);
}

}  // namespace partwise
