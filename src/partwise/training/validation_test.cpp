#include "partwise/training/validation.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace partwise::training {
namespace {

// Twenty images of two categories to train on, four to test on; ids are not places.
datasets::PartDataset small_dataset() {
  datasets::PartDataset dataset;
  dataset.categories = {{10, "fox", {}, {}}, {20, "deer", {}, {}}};
  for (int64_t i = 0; i < 24; ++i) {
    const int64_t id = 100 + i;
    dataset.images.push_back({id, std::to_string(id), 8, 8});
    auto& object = dataset.annotations.emplace_back();
    object.id = i;
    object.image_id = id;
    object.category_id = i % 2 == 0 ? 10 : 20;
    object.bbox = {0, 0, 8, 8};
    dataset.splits[i < 20 ? "train" : "test"].push_back(id);
  }
  return dataset;
}

TrainOptions watching(int64_t images, int64_t seed = 1) {
  TrainOptions options;
  options.validation_images = images;
  options.seed = seed;
  return options;
}

datasets::PartDataset divided(const datasets::PartDataset& dataset, const TrainOptions& options) {
  return with_validation(dataset, models::make_task(options.task, options.loss, dataset), options);
}

TEST(Validation, ImagesAreTakenOutOfTrainAndNeverOutOfTest) {
  const auto dataset = small_dataset();
  const auto now = divided(dataset, watching(6));
  EXPECT_EQ(now.splits.at("test"), dataset.splits.at("test"));
  auto together = now.splits.at("train");
  EXPECT_EQ(together.size(), 14U);
  const auto& held_out = now.splits.at("validation");
  together.insert(together.end(), held_out.begin(), held_out.end());
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, dataset.splits.at("train"));
}

TEST(Validation, TheSeedDecidesWhichImages) {
  const auto dataset = small_dataset();
  const auto chosen = [&](int64_t seed) {
    return divided(dataset, watching(6, seed)).splits.at("validation");
  };
  EXPECT_EQ(chosen(1), chosen(1));
  EXPECT_NE(chosen(1), chosen(2));
}

TEST(Validation, ASplitOfItsOwnLeavesTrainWhole) {
  for (const char* name : {"validation", "val"}) {
    auto dataset = small_dataset();
    dataset.splits[name] = {120, 121, 122};
    const auto now = divided(dataset, watching(2));
    EXPECT_EQ(now.splits.at("train"), dataset.splits.at("train"));
    EXPECT_EQ(now.splits.at("validation").size(), 2U);
    for (const int64_t id : now.splits.at("validation")) EXPECT_GE(id, 120);
    EXPECT_EQ(divided(dataset, watching(50)).splits.at("validation").size(), 3U);
  }
}

TEST(Validation, MoreThanHalfOfTrainIsRefused) {
  EXPECT_NO_THROW(divided(small_dataset(), watching(10)));
  EXPECT_THROW(divided(small_dataset(), watching(11)), Error);
}

}  // namespace
}  // namespace partwise::training
