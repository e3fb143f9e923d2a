#pragma once

#include "partwise/base/overheard_fixture.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/experiments/machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace partwise::experiments {

// A folder of the test's own, and every line the library says in it.
class Application : public testing::Test {
 protected:
  void TearDown() override { remove_folder(root_); }

  datasets::PartDataset draw_animals() const {
    datasets::SyntheticOptions drawing;
    drawing.images = 9;
    drawing.categories = 2;
    drawing.size = 64;
    return datasets::write_synthetic_animals(root_ / "animals", drawing, 2);
  }
  Machine machine() const { return {"cpu", 2, (root_ / "cache").string()}; }
  const std::vector<std::string>& said() const { return heard_.lines(); }

  std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) /
                                fmt::format("partwise-application-test-{}", ::getpid());

 private:
  Overheard heard_;
};

}  // namespace partwise::experiments
