#include "partwise/datasets/crop_cache.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRows = 6;
constexpr int64_t kRowBytes = 5000;
constexpr int64_t kFileBytes = 4096 + kRows * kRowBytes;

class CropCacheFolder : public testing::Test {
 protected:
  void SetUp() override { remove_folder(cache_.folder); }
  void TearDown() override { remove_folder(cache_.folder); }

  std::optional<RowBytes> rows(uint64_t content) {
    return cached_rows(cache_, {content, kRows, kRowBytes}, 2, [&](int64_t row, auto out) {
      ++filled_;
      fill_row(content, row, out);
    });
  }

  static void fill_row(uint64_t content, int64_t row, std::span<uint8_t> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<uint8_t>(content * 31 + static_cast<uint64_t>(row) * 7 + i);
  }

  static void expect_right(const std::optional<RowBytes>& found, uint64_t content) {
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->bytes.size(), static_cast<std::size_t>(kRows * kRowBytes));
    std::vector<uint8_t> wanted(kRowBytes);
    for (int64_t row = 0; row < kRows; ++row) {
      fill_row(content, row, wanted);
      const auto there = found->bytes.subspan(static_cast<std::size_t>(row * kRowBytes), kRowBytes);
      EXPECT_TRUE(std::equal(there.begin(), there.end(), wanted.begin())) << row;
    }
  }

  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::is_directory(cache_.folder)) return found;
    for (const auto& entry : fs::directory_iterator(cache_.folder)) found.push_back(entry.path());
    return found;
  }

  // In a process of its own: the rows, each of which takes a while; exits with how many it filled.
  [[nodiscard]] pid_t start_process(std::chrono::milliseconds row_time) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    int filled = 0;
    const auto found = cached_rows(cache_, {1, kRows, kRowBytes}, 1, [&](int64_t row, auto out) {
      ++filled;
      std::this_thread::sleep_for(row_time);
      fill_row(1, row, out);
    });
    ::_exit(found ? filled : 100);
  }

  static int exit_status(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  CropCache cache_{fs::path(testing::TempDir()) / "partwise-crop-cache", 1'000'000};
  std::atomic<int> filled_ = 0;
};

TEST_F(CropCacheFolder, RowsArePreparedOnce) {
  expect_right(rows(1), 1);
  EXPECT_EQ(filled_, kRows);
  expect_right(rows(1), 1);
  EXPECT_EQ(filled_, kRows);
  expect_right(rows(2), 2);
  EXPECT_EQ(filled_, 2 * kRows);
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(CropCacheFolder, SwitchedOffItLeavesNothing) {
  cache_.limit = 0;
  EXPECT_FALSE(rows(1).has_value());
  cache_ = {{}, 1'000'000};
  EXPECT_FALSE(rows(1).has_value());
  EXPECT_EQ(filled_, 0);
}

TEST_F(CropCacheFolder, AnyDamageIsFoundAndMended) {
  rows(1);
  const auto path = files().front();
  const auto whole = read_file(path);
  for (const auto at : {0, 10, 60, 4096, 20'000, static_cast<int>(kFileBytes) - 1}) {
    auto damaged = whole;
    damaged[static_cast<std::size_t>(at)] ^= 1;
    write_file_atomically(path, damaged);
    const int before = filled_;
    expect_right(rows(1), 1);
    EXPECT_EQ(filled_, before + kRows) << at;
  }
  for (const auto length : {0UL, 20UL, 5000UL, whole.size() - 1}) {
    write_file_atomically(path, whole.substr(0, length));
    expect_right(rows(1), 1);
  }
  EXPECT_EQ(read_file(path), whole);
}

TEST_F(CropCacheFolder, OfSeveralProcessesOneDoesTheWork) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) children.push_back(start_process(std::chrono::milliseconds(15)));
  int filled = 0;
  for (const pid_t child : children) filled += exit_status(child);
  EXPECT_EQ(filled, kRows);
  expect_right(rows(1), 1);
  EXPECT_EQ(filled_, 0);
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(CropCacheFolder, AProcessThatDiesAtWorkBlocksNobody) {
  const pid_t child = start_process(std::chrono::milliseconds(200));
  while (files().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_status(child), -SIGKILL);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_EQ(files().front().extension(), ".part");
  expect_right(rows(2), 2);  // other rows make room by removing what nobody works on
  ASSERT_EQ(files().size(), 1U);
  expect_right(rows(1), 1);
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(CropCacheFolder, TheLeastRecentlyUsedMakesRoomAndStaysMapped) {
  cache_.limit = 2 * kFileBytes;
  const auto tick = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  rows(1);
  tick();
  const auto second = rows(2);
  tick();
  rows(1);  // used again: the second is the older one now
  tick();
  write_file_atomically(cache_.folder / "notes.txt", "not ours");
  write_file_atomically(cache_.folder / "thesis.crops", "not ours");
  rows(3);
  expect_right(second, 2);
  EXPECT_EQ(filled_, 3 * kRows);
  rows(1);
  EXPECT_EQ(filled_, 3 * kRows);
  rows(2);
  EXPECT_EQ(filled_, 4 * kRows);
  EXPECT_TRUE(fs::exists(cache_.folder / "notes.txt"));
  EXPECT_TRUE(fs::exists(cache_.folder / "thesis.crops"));
}

TEST_F(CropCacheFolder, WithoutRoomTheWorkGoesOnWithoutIt) {
  cache_.limit = kFileBytes - 1;
  EXPECT_FALSE(rows(1).has_value());
  cache_.limit = 1'000'000;
  const auto folder = cache_.folder;
  write_file_atomically(folder, "a file in the way");
  EXPECT_FALSE(rows(1).has_value());
  fs::remove(folder);

  // A full disk, as the kernel shows it.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{kFileBytes / 2, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_FALSE(rows(1).has_value());
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(filled_, 0);
}

TEST_F(CropCacheFolder, AFailureIsPassedOnAndLeavesNothing) {
  const auto broken = [&] {
    cached_rows(cache_, {1, kRows, kRowBytes}, 2,
                [](int64_t row, auto) { ensure(row != 3, "row 3 cannot be read"); });
  };
  EXPECT_THROW(broken(), Error);
  EXPECT_TRUE(files().empty());
}

TEST(QuickHash, SeesEveryByteAndTheLength) {
  std::vector<uint8_t> bytes(21, 0);
  const auto hash = quick_hash(bytes);
  for (auto& byte : bytes) {
    byte = 1;
    EXPECT_NE(quick_hash(bytes), hash);
    byte = 0;
  }
  EXPECT_NE(quick_hash(std::span(bytes).first(20)), hash);
}

}  // namespace
}  // namespace partwise::datasets
