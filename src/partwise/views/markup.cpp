#include "partwise/views/markup.h"

#include "partwise/base/utf8.h"

#include <algorithm>
#include <array>

namespace partwise::views {

namespace {

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

// Neither HTML nor XML may hold it: control characters, broken UTF-8, U+FFFE and U+FFFF.
bool is_forbidden(char32_t character) {
  return (character < 0x20 && character != U'\n' && character != U'\t') || character == 0x7F ||
         character == 0xFFFE || character == 0xFFFF;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::array kEntities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view bytes = text.substr(0, length);
    const auto special = length == 1 ? kSpecial.find(bytes[0]) : std::string_view::npos;
    const char32_t character = take_character(text);
    if (special != std::string_view::npos) {
      safe += kEntities[special];
    } else if (length == 0 || is_forbidden(character)) {
      safe += "\uFFFD";
    } else {
      safe += bytes;
    }
  }
  return safe;
}

std::size_t text_length(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shortened(std::string_view text, std::size_t length) {
  if (text_length(text) <= length) return std::string(text);
  std::size_t characters = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (starts_character(text[end]) && ++characters == length) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace partwise::views
