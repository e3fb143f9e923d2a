#include "partwise/base/child_work.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

namespace partwise {
namespace {

const auto kNothing = [](const HandOver&) {};

std::string complaint_of(const std::function<void(const HandOver&)>& work,
                         const ChildLimits& limits = {}) {
  try {
    return done_by_child("a.mat", work, limits) ? "done" : "nothing";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ChildWork, HandsOverItsBytesAndNothingElse) {
  int value = 1;
  const auto bytes = done_by_child("a.mat", [&](const HandOver& hand_over) {
    value = 2;
    hand_over("one");
    hand_over(std::string(1'000'000, 'x'));
    hand_over("two");
  });
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->name, "a.mat");
  EXPECT_EQ(bytes->bytes, "one" + std::string(1'000'000, 'x') + "two");
  EXPECT_EQ(value, 1);
  EXPECT_EQ(done_by_child("a.mat", kNothing)->bytes, "");
}

TEST(ChildWork, ThatDoesNotComeToItsEndGivesNothing) {
  EXPECT_EQ(complaint_of([](const HandOver&) { std::raise(SIGSEGV); }), "nothing");
  EXPECT_EQ(complaint_of([](const HandOver&) { std::abort(); }), "nothing");
  EXPECT_EQ(complaint_of([](const HandOver&) { std::_Exit(0); }), "nothing");
  EXPECT_EQ(complaint_of([](const HandOver&) { std::_Exit(1); }), "nothing");
  EXPECT_EQ(complaint_of([](const HandOver&) { throw std::logic_error("a bug"); }), "nothing");
}

TEST(ChildWork, ComplainsAsItWouldHere) {
  EXPECT_EQ(complaint_of([](const HandOver& hand_over) {
              hand_over("half of it");
              throw Error("a.mat: damaged");
            }),
            "a.mat: damaged");
}

TEST(ChildWork, HasLimits) {
  const auto large = [](const HandOver&) { std::vector<char>(std::size_t{1} << 30U, 1); };
  const auto said = complaint_of(large, {.memory = std::size_t{100} << 20U});
  EXPECT_TRUE(said == "a.mat: too large: reading it takes more memory than 100 MB" ||
              said == "nothing")  // a sanitizer ends the child itself
      << said;
}

// What is no fault of the file must not be called damage.
TEST(ChildWork, SaysWhichLimitOfTheMachineEndedIt) {
  EXPECT_EQ(
      complaint_of([](const HandOver&) { pause(); }, {.seconds = 0.2}),
      "a.mat: given up after 0.2 s: damaged, or on a slow disk (then copy it to a faster one)");
  const auto talkative = [](const HandOver& hand_over) { hand_over(std::string(5000, 'x')); };
  EXPECT_EQ(complaint_of(talkative, {.handed = 4096}),
            "a.mat: what is in it cannot be kept in memory: File too large");
  EXPECT_EQ(complaint_of([](const HandOver&) { std::raise(SIGKILL); }),
            "a.mat: reading it was killed; is the machine out of memory?");
}

TEST(ChildWork, MayBeAskedForOnSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<std::string> answers(6);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&answers, i] {
      answers[i] = done_by_child("a.mat", [&](const HandOver& hand_over) {
                     hand_over(std::string(i, 'x'));
                   })->bytes;
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], std::string(i, 'x'));
}

// Only this process gets the signal, as from `kill`; a terminal's goes to the child as well.
void be_interrupted(bool child_too) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  watch_for_interrupts();
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::kill(::getpid(), SIGTERM);
  }).detach();
  try {
    (void)done_by_child("a.mat", [&](const HandOver&) {
      if (child_too) std::raise(SIGINT);
      pause();
    });
  } catch (const Interrupted& stop) {
    std::_Exit(std::string(stop.what()) == "interrupted while reading a file" ? 7 : 1);
  }
}

TEST(ChildWork, IsInterruptedWithTheProgram) {
  EXPECT_EXIT(be_interrupted(false), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(be_interrupted(true), testing::ExitedWithCode(7), "");
}

void watch_where_both_are_ignored() {
  std::signal(SIGCHLD, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  watch_for_interrupts();
  const auto bytes = done_by_child("a.mat", [](const HandOver& hand_over) {
    std::raise(SIGINT);
    hand_over("read");
  });
  std::_Exit(bytes && bytes->bytes == "read" ? 7 : 1);
}

TEST(ChildWork, IsDoneWhateverSignalsAreIgnored) {
  EXPECT_EXIT(watch_where_both_are_ignored(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace partwise
