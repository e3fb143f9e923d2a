#include "partwise/experiments/file_stems.h"

#include "partwise/base/utf8.h"

#include <gtest/gtest.h>

namespace partwise::experiments {
namespace {

TEST(FileStems, AreTheWordsThemselvesWhereThoseMayBeAName) {
  FileStems stems;
  for (const char* words : {"polar bear", "001.Black_footed_Albatross", "IMG.01", "größe", "a-b"})
    EXPECT_EQ(stems.take(words), words);
}

TEST(FileStems, LeadNowhereElse) {
  FileStems stems;
  EXPECT_EQ(stems.take("../../x"), "-..-..-x");
  EXPECT_EQ(stems.take("/etc/passwd"), "-etc-passwd");
  EXPECT_EQ(stems.take(".."), "-..");
  EXPECT_EQ(stems.take(""), "-");
  EXPECT_EQ(stems.take(std::string("a\0b\nc", 5)), "a-b-c");
}

TEST(FileStems, AreNeverAlike) {
  FileStems stems;
  EXPECT_EQ(stems.take("a-b"), "a-b");
  EXPECT_EQ(stems.take("a/b"), "a-b_2");
  EXPECT_EQ(stems.take("a-b_2"), "a-b_2_2");
  EXPECT_EQ(stems.take("a/b"), "a-b_3");
  EXPECT_EQ(stems.take("a.b"), "a.b");
}

TEST(FileStems, OfLongWordsAreTheirBeginningInWholeLetters) {
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "ö";
  FileStems stems;
  for (const char* shift : {"", "-", ""}) {
    const auto stem = stems.take(shift + umlauts);
    EXPECT_TRUE(is_utf8(stem));
    EXPECT_LT(stem.size(), 200U);
  }
}

}  // namespace
}  // namespace partwise::experiments
