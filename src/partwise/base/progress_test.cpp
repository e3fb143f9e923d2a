#include "partwise/base/progress.h"

#include "partwise/base/parallel.h"

#include <gtest/gtest.h>

#include <vector>

namespace partwise {
namespace {

class Notebook : public Listener {
 public:
  void line(const std::string& text) override { lines.push_back(text); }
  void progress(const WorkDone& work) override { seen.push_back(work.done); }
  void progress_ended() override { ++ended; }

  std::vector<std::string> lines;
  std::vector<int64_t> seen;
  int ended = 0;
};

TEST(Messages, GoToTheListenerInstalledAndToNobodyElse) {
  testing::internal::CaptureStderr();
  say("nobody hears this");
  const auto notebook = std::make_shared<Notebook>();
  const auto before = set_listener(notebook);
  say("heard");
  set_listener(before);
  say("nor this");
  EXPECT_EQ(before, nullptr);  // a library is silent until somebody listens
  EXPECT_EQ(notebook->lines, std::vector<std::string>{"heard"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Messages, OfAllThreadsComeOneAtATime) {
  const auto notebook = std::make_shared<Notebook>();
  const auto before = set_listener(notebook);
  parallel_for(200, 8, [](int64_t i) { say(std::to_string(i)); });
  set_listener(before);
  EXPECT_EQ(notebook->lines.size(), 200U);
}

TEST(Messages, TellHowFarWorkHasComeAndThatItEnded) {
  const auto notebook = std::make_shared<Notebook>();
  const auto before = set_listener(notebook);
  {
    Progress progress("counting", 10, "sheep");
    progress.advance(3);
    progress.advance(3);  // too soon to be told again
    EXPECT_EQ(notebook->ended, 0);
  }
  set_listener(before);
  EXPECT_EQ(notebook->seen, std::vector<int64_t>{3});
  EXPECT_EQ(notebook->ended, 1);
}

}  // namespace
}  // namespace partwise
