#include "partwise/metrics/derangement.h"

#include <gtest/gtest.h>

#include <set>

namespace partwise::metrics {
namespace {

TEST(Derangement, GivesEveryItemAnotherPartner) {
  Random random(1);
  for (std::size_t count = 2; count < 40; ++count) {
    const auto partner = derangement(count, random);
    EXPECT_EQ(std::set(partner.begin(), partner.end()).size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_NE(partner[i], i);
  }
}

TEST(Derangement, LeavesASingleItemAlone) {
  Random random(1);
  EXPECT_EQ(derangement(1, random).front(), 0U);
  EXPECT_TRUE(derangement(0, random).empty());
}

TEST(OtherRows, StayInTheirCategory) {
  Truth truth{.input_side = 8, .categories = {{"cat", {}, {}}, {"dog", {}, {}}}, .rows = {}};
  for (const int64_t category : {0, 1, -1, 1, 0, 0}) truth.rows.emplace_back().category = category;
  const auto other = other_rows(truth, Random(2));
  for (std::size_t row = 0; row < 6; ++row) {
    EXPECT_EQ(truth.rows[other[row]].category, truth.rows[row].category);
    EXPECT_EQ(other[row] == static_cast<int64_t>(row), row == 2);
  }
}

}  // namespace
}  // namespace partwise::metrics
