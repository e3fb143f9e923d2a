#include "partwise/base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace partwise {
namespace {

// Whatever the shell that started the tests ignores.
void watch() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  watch_for_interrupts();
}

void abandon(int signal) {
  watch();
  const Abandonable outer("given up outside");
  { const Abandonable inner("given up inside"); }
  std::raise(signal);
}

TEST(Interrupt, EndsAbandonableWorkAtOnceWithItsWords) {
  EXPECT_EXIT(abandon(SIGINT), testing::ExitedWithCode(130), "^partwise: given up outside\n$");
  EXPECT_EXIT(abandon(SIGTERM), testing::ExitedWithCode(130), "^partwise: given up outside\n$");
}

void heed() {
  watch();
  const Abandonable outer("given up");
  const Heeding heeding;
  std::raise(SIGINT);
  std::_Exit(interrupt_requested() ? 7 : 1);
}

TEST(Interrupt, LeavesWorkThatHeedsItToItself) {
  EXPECT_EXIT(heed(), testing::ExitedWithCode(7), "^$");
}

void heed_twice(int first, int second) {
  watch();
  const Heeding heeding;
  std::raise(first);
  std::raise(second);
  std::_Exit(7);
}

TEST(Interrupt, ASecondOneOfEitherKindEndsTheProgram) {
  EXPECT_EXIT(heed_twice(SIGINT, SIGINT), testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(heed_twice(SIGINT, SIGTERM), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(heed_twice(SIGTERM, SIGINT), testing::KilledBySignal(SIGINT), "");
}

void write_something() {
  watch();
  const Abandonable outer("given up");
  {
    const Unbroken whole;
    const Unbroken inside;
    std::raise(SIGINT);
    std::fputs("written\n", stderr);
  }
  std::_Exit(1);
}

TEST(Interrupt, DoesNotCutInTwoWhatMustBeWhole) {
  EXPECT_EXIT(write_something(), testing::ExitedWithCode(130), "^written\npartwise: given up\n$");
}

void be_blocked() {
  std::signal(SIGINT, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  std::raise(SIGINT);
  watch_for_interrupts();
  std::_Exit(interrupt_requested() ? 7 : 1);
}

TEST(Interrupt, ThatCameBeforeAnybodyWatchedCounts) {
  EXPECT_EXIT(be_blocked(), testing::ExitedWithCode(7), "");
}

void come_late() {
  watch();
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

void be_ignored(int signal) {
  std::signal(signal, SIG_IGN);
  watch_for_interrupts();
  const Abandonable outer("given up");
  std::raise(signal);
  std::_Exit(is_ignored(signal) && !interrupt_requested() ? 7 : 1);
}

TEST(Interrupt, ThatWhoeverStartedTheProgramIgnoresStaysIgnored) {
  EXPECT_EXIT(be_ignored(SIGINT), testing::ExitedWithCode(7), "^$");
  EXPECT_EXIT(be_ignored(SIGTERM), testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace partwise
