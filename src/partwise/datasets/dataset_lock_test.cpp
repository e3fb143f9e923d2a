#include "partwise/datasets/dataset_lock.h"

#include "partwise/base/error.h"
#include "partwise/base/progress.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/datasets/synthetic_interventions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

// Hears that somebody waits.
class WaitListener : public Listener {
 public:
  void line(const std::string& text) override {
    if (text.find("another process is writing this dataset") != std::string::npos) heard = true;
  }
  std::atomic<bool> heard = false;
};

class DatasetLocks : public testing::Test {
 protected:
  void SetUp() override {
    remove_folder(folder_);
    before_ = set_listener(listener_);
  }
  void TearDown() override {
    set_listener(before_);
    remove_folder(folder_);
  }

  // Whether the work begins to wait while the folder is held, and is done once it is free.
  void expect_waits(const std::function<void()>& work) const {
    listener_->heard = false;
    std::optional<DatasetLock> held(folder_);
    auto done = std::async(std::launch::async, work);
    while (!listener_->heard &&
           done.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) {
    }
    EXPECT_TRUE(listener_->heard);
    held.reset();
    EXPECT_NO_THROW(done.get());
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-dataset-lock";
  std::shared_ptr<WaitListener> listener_ = std::make_shared<WaitListener>();
  std::shared_ptr<Listener> before_;
};

TEST_F(DatasetLocks, LeaveNothingInTheFolder) {
  { const DatasetLock lock(folder_); }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(DatasetLocks, DrawingWaitsForWhoeverWrites) {
  SyntheticOptions options;
  options.images = 6;
  options.categories = 1;
  options.size = 32;
  expect_waits([&] { write_synthetic_animals(folder_, options, 1); });
  const auto dataset = load_dataset(folder_);
  expect_waits([&] { write_interventions(dataset, 1); });
  EXPECT_FALSE(read_interventions(dataset).empty());
}

TEST_F(DatasetLocks, AFileInTheWayIsLeftToWhoClaimsTheFolder) {
  write_file_atomically(folder_, "x");
  EXPECT_NO_THROW(DatasetLock{folder_});
  EXPECT_THROW(write_synthetic_animals(folder_, {}, 1), Error);
}

}  // namespace
}  // namespace partwise::datasets
