#include "partwise/base/printable.h"

#include "partwise/base/utf8.h"

#include <fmt/format.h>

namespace partwise {
namespace {

constexpr std::size_t kLineBegins = 440;  // bytes that are kept of a line that is too long
constexpr std::size_t kLineEnds = 220;
constexpr std::size_t kLongestLine = 680;

// C0, DEL and C1: what a terminal may take for a command. Separators of lines and paragraphs, and
// marks that turn the direction of writing: what shows a line as another.
bool is_control(std::string_view character) {
  const auto code = take_character(character);
  const auto within = [&](char32_t first, char32_t last) { return code >= first && code <= last; };
  return code < 0x20U || within(0x7FU, 0x9FU) || within(0x200EU, 0x200FU) ||
         within(0x2028U, 0x202EU) || within(0x2066U, 0x2069U);
}

}  // namespace

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

std::string one_line(std::string_view text) {
  const auto whole = printable(text, text.size() * 4);
  if (whole.size() <= kLongestLine) return whole;
  auto end = whole.size() - kLineEnds;
  while (character_length(std::string_view(whole).substr(end)) == 0) ++end;
  return printable(whole, kLineBegins) + whole.substr(end);
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace partwise
