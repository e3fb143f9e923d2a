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

}  // namespace
}  // namespace partwise::metrics
