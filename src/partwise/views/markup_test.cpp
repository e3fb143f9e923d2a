#include "partwise/views/markup.h"

#include <gtest/gtest.h>

namespace partwise::views {
namespace {

TEST(EscapeMarkup, DisarmsTagsQuotesAndControlCharacters) {
  EXPECT_EQ(escape_markup("<script>\"a\" & 'b'</script>"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
  EXPECT_EQ(escape_markup(std::string_view("a\0b\x1B", 4)), "a\uFFFDb\uFFFD");
  EXPECT_EQ(escape_markup("a\xFF<\xE2\x82"), "a\uFFFD&lt;\uFFFD\uFFFD");
  EXPECT_EQ(escape_markup("größer – 5 %"), "größer – 5 %");
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("fox", 3), "fox");
  EXPECT_EQ(shortened("äöüß", 3), "äö…");
  EXPECT_EQ(text_length("äö…"), 3U);
}

}  // namespace
}  // namespace partwise::views
