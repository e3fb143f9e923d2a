#pragma once

#include <cstddef>
#include <string_view>

namespace partwise {

constexpr char32_t kReplacementCharacter = 0xFFFD;

// Bytes of the UTF-8 character at the front of `text`; 0 when it is none. Surrogates, overlong
// forms and what lies beyond U+10FFFF are none.
std::size_t character_length(std::string_view text);

bool is_utf8(std::string_view text);

// Takes the front character off `text`, which is not empty; a byte that begins none is taken alone
// and reads as U+FFFD.
char32_t take_character(std::string_view& text);

}  // namespace partwise
