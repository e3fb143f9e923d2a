#include "partwise/base/rehearsal.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

namespace partwise {
namespace {

TEST(Rehearsal, OnlyWhatEndsSurvives) {
  EXPECT_TRUE(survives([] {}));
  EXPECT_TRUE(survives([] { throw Error("a complaint is an end"); }));
  EXPECT_FALSE(survives([] { std::raise(SIGSEGV); }));
  EXPECT_FALSE(survives([] { std::abort(); }));
  EXPECT_FALSE(survives([] { pause(); }, 1));
}

TEST(Rehearsal, LeavesNothingBehind) {
  int value = 1;
  EXPECT_TRUE(survives([&] { value = 2; }));
  EXPECT_EQ(value, 1);
}

}  // namespace
}  // namespace partwise
