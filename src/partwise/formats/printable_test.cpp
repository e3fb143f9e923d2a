#include "partwise/formats/printable.h"

#include <gtest/gtest.h>

namespace partwise::formats {
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

TEST(Printable, BrokenUtf8IsShownByteByByte) {
  for (const char* broken : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_EQ(printable(broken)[0], '\\');
  }
}

TEST(Printable, LongTextIsCut) {
  EXPECT_EQ(printable(std::string(500, 'x'), 5), "xxxxx...");
  EXPECT_EQ(printable("12345", 5), "12345");
}

}  // namespace
}  // namespace partwise::formats
