#include "partwise/base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace partwise {
namespace {

void abandon(int signal) {
  watch_for_interrupts();
  const Abandonable outer("given up outside");
  { const Abandonable inner("given up inside"); }
  std::raise(signal);
}

TEST(Interrupt, EndsAbandonableWorkAtOnceWithItsWords) {
  EXPECT_EXIT(abandon(SIGINT), testing::ExitedWithCode(130), "^partwise: given up outside\n$");
  EXPECT_EXIT(abandon(SIGTERM), testing::ExitedWithCode(130), "^partwise: given up outside\n$");
}

void come_late() {
  watch_for_interrupts();
  std::raise(SIGTERM);
  try {
    const Abandonable late("not begun");
  } catch (const Interrupted&) {
    std::_Exit(interrupt_requested() ? 7 : 1);
  }
}

TEST(Interrupt, ThatCameBeforeLetsNoAbandonableWorkBegin) {
  EXPECT_EXIT(come_late(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace partwise
