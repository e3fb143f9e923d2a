#include "partwise/tensors/recently_used.h"

#include <gtest/gtest.h>

#include <memory>

namespace partwise::tensors {
namespace {

TEST(RecentlyUsed, KeepsWhatWasAskedForLast) {
  RecentlyUsed<int> numbers(2);
  numbers.of("one") = 1;
  numbers.of("two") = 2;
  EXPECT_EQ(numbers.of("one"), 1);
  numbers.of("three") = 3;  // in place of two
  EXPECT_EQ(numbers.of("one"), 1);
  EXPECT_EQ(numbers.of("three"), 3);
  EXPECT_EQ(numbers.of("two"), 0);
}

// As a training whose strength changes with every epoch.
TEST(RecentlyUsed, KeepsNoMoreThanItMayHoweverManyKeysCome) {
  RecentlyUsed<std::shared_ptr<int>> numbers(3);
  const auto owner = std::make_shared<int>();
  for (int epoch = 0; epoch < 100; ++epoch) {
    for (const char* size : {"32", "33"}) numbers.of(std::to_string(epoch) + size) = owner;
    EXPECT_LE(owner.use_count(), 1 + 3);
  }
}

}  // namespace
}  // namespace partwise::tensors
