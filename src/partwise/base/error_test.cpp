#include "partwise/base/error.h"

#include <gtest/gtest.h>

namespace partwise {
namespace {

std::string complaint(const std::string& quoted) {
  try {
    ensure(false, "a.json: '{}' is no name; mend it", quoted);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Error, IsOneLineThatNobodyElseCanForge) {
  EXPECT_EQ(complaint("a\npartwise: all is well\x1B[1A"),
            "a.json: 'a\\x0apartwise: all is well\\x1b[1A' is no name; mend it");
}

TEST(Error, KeepsItsPlaceAndItsRemedyWhateverItQuotes) {
  const auto text = complaint(std::string(100000, 'x'));
  EXPECT_LT(text.size(), 700U);
  EXPECT_TRUE(text.starts_with("a.json: 'xxx")) << text;
  EXPECT_TRUE(text.ends_with("xxx' is no name; mend it")) << text;
}

TEST(Error, ThatIsToldAgainStaysAsItIs) {
  for (const std::size_t length : {10U, 660U, 700U, 5000U}) {
    const auto once = complaint(std::string(length, '\t'));
    EXPECT_EQ(std::string(Error(once).what()), once);
  }
}

}  // namespace
}  // namespace partwise
