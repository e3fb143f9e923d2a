#include "partwise/base/utf8.h"

#include <gtest/gtest.h>

namespace partwise {
namespace {

TEST(Utf8, BrokenOverlongAndSurrogateFormsAreNone) {
  EXPECT_TRUE(is_utf8("größe € \xF0\x9F\x98\x80"));
  for (const char* broken : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_FALSE(is_utf8(broken));
  }
}

TEST(Utf8, CharactersAreTakenOneByOneAndBrokenBytesAlone) {
  std::string_view text = "a€\xE2\x82z";
  std::u32string taken;
  while (!text.empty()) taken += take_character(text);
  EXPECT_EQ(taken, U"a€\uFFFD\uFFFDz");
}

}  // namespace
}  // namespace partwise
