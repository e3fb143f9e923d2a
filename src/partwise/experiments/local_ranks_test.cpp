#include "partwise/experiments/local_ranks.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/experiments/application_fixture.h"

#include <chrono>
#include <csignal>

namespace partwise::experiments {
namespace {

class LocalRanks : public Application {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  // A shell that knows the test's folder as $0.
  Command shell(const std::string& script) const {
    return {"/bin/sh", {"sh", "-c", script, root_.string()}};
  }
};

TEST_F(LocalRanks, KnowTheirPlaceAndTheMeetingPoint) {
  EXPECT_EQ(run_local_ranks(3, shell("echo $WORLD_SIZE $LOCAL_RANK $MASTER_ADDR > $0/$RANK")), 0);
  for (const char* rank : {"0", "1", "2"})
    EXPECT_EQ(read_file(root_ / rank), fmt::format("3 {} 127.0.0.1\n", rank));
}

TEST_F(LocalRanks, OneThatFailsIsNamedAndTheOthersAreStopped) {
  const auto start = std::chrono::steady_clock::now();
  try {
    run_local_ranks(2,
                    shell("[ $RANK = 0 ] && exec sleep 60; echo 'partwise: no disk' >&2; exit 1"));
    FAIL() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "rank 1 of 2 gave up: no disk");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(LocalRanks, OneEndedByASignalIsNamed) {
  try {
    run_local_ranks(2, shell("[ $RANK = 1 ] && kill -KILL $$; exit 75"));  // 75: lost the others
    FAIL() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 of 2 was ended by signal 9"),
              std::string::npos);
  }
}

TEST_F(LocalRanks, TheLeadersOwnFailureIsItsExitCode) {
  EXPECT_EQ(run_local_ranks(2, shell("[ $RANK = 0 ] && exit 1; exit 75")), 1);
  EXPECT_EQ(run_local_ranks(2, shell("exit 130")), 130);  // interrupted
}

TEST_F(LocalRanks, ThatNobodyCanWaitForAreAnErrorAndNotWaitedForWithoutEnd) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THROW(run_local_ranks(2, shell("exit 0")), Error);
  std::signal(SIGCHLD, before);
}

TEST_F(LocalRanks, HearWhatIsHandedOnThoughItIsIgnoredHere) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  EXPECT_EQ(run_local_ranks(1, shell("grep SigIgn: /proc/self/status > $0/ignored")), 0);
  std::signal(SIGTERM, before);
  const auto line = read_file(root_ / "ignored");
  const auto ignored = std::stoull(line.substr(line.find(':') + 1), nullptr, 16);
  EXPECT_EQ(ignored >> (SIGTERM - 1) & 1U, 0U) << line;
}

}  // namespace
}  // namespace partwise::experiments
