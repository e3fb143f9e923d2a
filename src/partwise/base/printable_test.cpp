#include "partwise/base/printable.h"

#include "partwise/base/utf8.h"

#include <gtest/gtest.h>

namespace partwise {
namespace {

TEST(Printable, PlainTextAndUmlautsStay) {
  EXPECT_EQ(printable("features.0.weight"), "features.0.weight");
  EXPECT_EQ(printable("größe €"), "größe €");
}

TEST(Printable, NothingReachesTheTerminalAsACommand) {
  EXPECT_EQ(printable("a\x1B[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            "\\xc2\\x9b2J");  // the one-character CSI
  EXPECT_EQ(printable(std::string("\0\x7F", 2)), "\\x00\\x7f");
}

TEST(Printable, NothingShowsALineAsAnother) {
  for (const char* mark : {"\xE2\x80\xA8", "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x80\x8F"}) {
    EXPECT_EQ(printable(mark).substr(0, 5), "\\xe2\\") << mark;
  }
  EXPECT_EQ(printable("\xE2\x80\xA6"), "\xE2\x80\xA6");  // three dots
}

TEST(Printable, BrokenUtf8IsShownByteByByte) {
  for (const char* broken : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_EQ(printable(broken)[0], '\\');
  }
}

TEST(Printable, LongTextIsCut) {
  EXPECT_EQ(printable(std::string(500, 'x'), 5), "xxxxx...");
  EXPECT_EQ(printable("12345", 5), "12345");
}

TEST(Printable, OfALongLineTheMiddleIsLeftOut) {
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "ö";
  for (const auto* shift : {"", "-"}) {
    const auto line = one_line("begin" + umlauts + shift + "end");
    EXPECT_TRUE(is_utf8(line));
    EXPECT_LE(line.size(), 680U);
    EXPECT_TRUE(line.starts_with("beginö") && line.ends_with("end"));
    EXPECT_NE(line.find("..."), std::string::npos);
  }
}

TEST(Printable, TheFirstLineEndsWhereTheSecondBegins) {
  EXPECT_EQ(first_line("shape mismatch\nframe #0: c10::Error\n"), "shape mismatch");
  EXPECT_EQ(first_line("no more than this"), "no more than this");
  EXPECT_EQ(first_line("\n"), "");
}

}  // namespace
}  // namespace partwise
