#include "partwise/base/progress.h"

#include "partwise/base/overheard_fixture.h"
#include "partwise/base/parallel.h"

#include <gtest/gtest.h>

namespace partwise {
namespace {

TEST(Messages, GoToTheListenerInstalledAndToNobodyElse) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(set_listener(nullptr), nullptr);  // a library is silent until somebody listens
  say("nobody hears this");
  {
    const Overheard heard;
    say("heard");
    EXPECT_EQ(heard.lines(), std::vector<std::string>{"heard"});
  }
  say("nor this");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Messages, AreOneLineEachWhateverTheyQuote) {
  const Overheard heard;
  say("skipped: a\npartwise: all is well\x1B[1A");
  EXPECT_EQ(heard.lines().at(0), "skipped: a\\x0apartwise: all is well\\x1b[1A");
}

TEST(Messages, OfAllThreadsComeOneAtATime) {
  const Overheard heard;
  parallel_for(200, 8, [](int64_t i) { say(std::to_string(i)); });
  EXPECT_EQ(heard.lines().size(), 200U);
}

TEST(Messages, NameWorkInOneLineWhateverItIsCalled) {
  class Labels : public Listener {
   public:
    void line(const std::string& /*text*/) override {}
    void progress(const WorkDone& work) override { heard = work.label + '|' + work.note; }
    std::string heard;
  };
  const auto labels = std::make_shared<Labels>();
  const auto before = set_listener(labels);
  Progress progress("fox\x1B]0;owned\a", 10, "sheep");
  progress.note("loss\n");
  progress.advance(1);
  set_listener(before);
  EXPECT_EQ(labels->heard, "fox\\x1b]0;owned\\x07|loss\\x0a");
}

TEST(Messages, TellHowFarWorkHasComeAndThatItEnded) {
  const Overheard heard;
  {
    Progress progress("counting", 10, "sheep");
    progress.advance(3);
    progress.advance(3);  // too soon to be told again
    EXPECT_EQ(heard.notes().ended, 0);
  }
  EXPECT_EQ(heard.notes().done, std::vector<int64_t>{3});
  EXPECT_EQ(heard.notes().ended, 1);
}

}  // namespace
}  // namespace partwise
