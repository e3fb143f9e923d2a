#include "partwise/views/lettering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace partwise::views {
namespace {

const Letter& hollow_box() {
  return letter_of(0xFFFD);
}

bool is_box(char32_t character) {
  return &letter_of(character) == &hollow_box();
}

TEST(Lettering, DrawsEveryAsciiCharacterButTheSpace) {
  for (char32_t character = 0x20; character < 0x7F; ++character) {
    EXPECT_FALSE(is_box(character)) << static_cast<char>(character);
    EXPECT_GT(letter_of(character).advance, 0.0) << static_cast<char>(character);
    EXPECT_EQ(letter_of(character).lines.empty(), character == U' ')
        << static_cast<char>(character);
  }
}

TEST(Lettering, DrawsLatinLettersAndTheSignsOfFigures) {
  for (char32_t character = 0xC0; character <= 0xFF; ++character) {
    EXPECT_FALSE(is_box(character)) << static_cast<uint32_t>(character);
  }
  for (const char32_t character : std::u32string_view(U"·×−–…±µ°→ΔΣβλ")) {
    EXPECT_FALSE(is_box(character)) << static_cast<uint32_t>(character);
  }
}

TEST(Lettering, KeepsEveryLetterWithinItsAdvanceAndTheLine) {
  for (char32_t character = 0x20; character <= 0xFF; ++character) {
    const Letter& letter = letter_of(character);
    for (const auto& line : letter.lines) {
      for (const Point& point : line) {
        EXPECT_GE(point.x, 0.0) << static_cast<uint32_t>(character);
        EXPECT_LE(point.x, letter.advance) << static_cast<uint32_t>(character);
        EXPECT_GE(point.y, -6.5) << static_cast<uint32_t>(character);
        EXPECT_LE(point.y, 27.5) << static_cast<uint32_t>(character);
      }
    }
  }
}

TEST(Lettering, AnAccentStandsOnItsLetter) {
  EXPECT_EQ(letter_of(U'ä').advance, letter_of(U'a').advance);
  EXPECT_EQ(letter_of(U'ä').lines.size(), letter_of(U'a').lines.size() + 2);
  EXPECT_EQ(letter_of(U'í').lines.size(), letter_of(U'i').lines.size());  // in place of the dot
}

TEST(Lettering, UnknownCharactersAndBrokenBytesAreBoxes) {
  EXPECT_TRUE(is_box(U'漢'));
  EXPECT_EQ(lettering_width("漢", 13, false), lettering_width("\xFF", 13, false));
  EXPECT_EQ(lettering("a\xE2\x82", 13, false).lines.size(),
            lettering("a漢漢", 13, false).lines.size());
  EXPECT_EQ(lettering("", 13, false).lines.size(), 0U);
}

TEST(Lettering, ALineBreakIsASpace) {
  EXPECT_EQ(lettering_width("a\nb\tc", 13, false), lettering_width("a b c", 13, false));
}

TEST(Lettering, WidthGrowsWithSizeAndWeight) {
  EXPECT_DOUBLE_EQ(lettering_width("Fox", 26, false), 2.0 * lettering_width("Fox", 13, false));
  EXPECT_GT(lettering_width("Fox", 13, true), lettering_width("Fox", 13, false));
}

TEST(Lettering, LettersStandOnWholePixels) {
  for (const double size : {11.0, 13.0, 16.0}) {
    const Lettering written = lettering("H", size, false);
    double top = 0.0;
    double bottom = -100.0;
    for (const auto& line : written.lines) {
      for (const Point& point : line) {
        top = std::min(top, point.y - written.pen / 2.0);
        bottom = std::max(bottom, point.y + written.pen / 2.0);
      }
    }
    EXPECT_NEAR(bottom, 0.0, 1e-9);
    EXPECT_NEAR(top, std::round(top), 1e-9);
  }
}

}  // namespace
}  // namespace partwise::views
