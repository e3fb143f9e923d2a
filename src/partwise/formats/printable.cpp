#include "partwise/formats/printable.h"

#include "partwise/formats/utf8.h"

#include <fmt/format.h>

namespace partwise::formats {
namespace {

// C0, DEL and C1: what a terminal may take for a command.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20U || first == 0x7FU;
  return first == 0xC2U && static_cast<unsigned char>(character[1]) < 0xA0U;
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

}  // namespace partwise::formats
