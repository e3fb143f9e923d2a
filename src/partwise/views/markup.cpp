#include "partwise/views/markup.h"

#include <algorithm>
#include <array>

namespace partwise::views {

namespace {

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

bool is_forbidden(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return (code < 0x20 && byte != '\n' && byte != '\t') || code == 0x7F;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::array kEntities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string safe;
  safe.reserve(text.size());
  for (const char byte : text) {
    const auto special = kSpecial.find(byte);
    if (special != std::string_view::npos) {
      safe += kEntities[special];
    } else if (is_forbidden(byte)) {
      safe += "\xEF\xBF\xBD";
    } else {
      safe += byte;
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
