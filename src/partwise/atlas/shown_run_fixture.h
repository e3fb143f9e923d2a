#pragma once

#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/explaining/part_book.h"
#include "partwise/models/model.h"
#include "partwise/runs/run_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <unistd.h>

namespace partwise::atlas {

// Runs of untrained networks on a few synthetic animals: what the explorer must keep to does not
// depend on training.
class ShownRuns : public testing::Test {
 protected:
  ShownRuns() {
    remove_folder(root_);
    datasets::SyntheticOptions drawing;
    drawing.images = 12;
    drawing.categories = 3;
    drawing.size = 64;
    dataset_ = datasets::write_synthetic_animals(root_ / "animals", drawing, 1);
  }
  ~ShownRuns() override { remove_folder(root_); }

  // learnt: it knows its parts, from fewer images than a user's, to be quicker
  runs::RunFolder run(const std::string& name,
                      const std::string& arm = "interpretable",
                      bool learnt = true) const {
    const nlohmann::json options{{"net", "tiny"},     {"arm", arm}, {"task", "multi"},
                                 {"loss", "softmax"}, {"seed", 3},  {"hidden", 16},
                                 {"epochs", 1}};
    auto folder =
        runs::RunFolder::create(root_ / name, options, {{"data", (root_ / "animals").string()}});
    const auto design = models::make_design(options, dataset_);
    models::claim_model(folder, design);
    models::save_checkpoint(folder, {{.epoch = 1}, models::draw_network(design).state()});
    if (learnt)
      explaining::provide_part_book(folder, {}, models::Resources{.threads = 1}, "last",
                                    {.images = 2, .by_place = false, .naming = {}});
    return folder;
  }

  std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / fmt::format("partwise-shown-runs-{}", ::getpid());
  datasets::PartDataset dataset_;
};

}  // namespace partwise::atlas
