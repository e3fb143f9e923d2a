#include "partwise/training/augmentation.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace partwise::training {
namespace {

const std::vector<int64_t> kCategory{0, -1, 0, -1, 1, -1};

TEST(EpochOrder, ShowsEveryRowOnceUnlessAskedOtherwise) {
  auto order = epoch_order(kCategory, {}, 5);
  EXPECT_EQ(order, epoch_order(kCategory, {}, 5));
  EXPECT_NE(order, epoch_order(kCategory, {}, 6));
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(EpochOrder, RepeatsPositivesAndDrawsNegativesToTheNumbersAsked) {
  TrainOptions options;
  options.positives = 8;
  options.negatives = 2;
  const auto order = epoch_order(kCategory, options, 5);
  ASSERT_EQ(order.size(), 10U);
  for (const int64_t row : {0, 2, 4}) {  // 8 = 2 x 3 + 2
    const auto times = std::count(order.begin(), order.end(), row);
    EXPECT_TRUE(times == 2 || times == 3) << row;
  }
  for (const int64_t row : {1, 3, 5}) EXPECT_LE(std::count(order.begin(), order.end(), row), 1);
  EXPECT_NE(order, epoch_order(kCategory, options, 6));
}

}  // namespace
}  // namespace partwise::training
