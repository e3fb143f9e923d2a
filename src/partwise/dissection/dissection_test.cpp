#include "partwise/dissection/dissection.h"

#include "partwise/datasets/synthetic_animals.h"
#include "partwise/dissection/truth.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::dissection {
namespace {

namespace fs = std::filesystem;

TEST(Truth, PutsLandmarksAndPartsIntoCropPixels) {
  datasets::PartDataset dataset;
  dataset.categories = {{5, "fox", {"head", "tail"}, {"nose", "tail"}}, {6, "deer", {}, {}}};
  datasets::Annotation fox;
  fox.category_id = 5;
  fox.bbox = {10, 20, 40, 20};
  fox.landmarks["nose"] = {{30, 30}};
  fox.parts["head"].bbox = Box{10, 20, 20, 10};
  dataset.annotations = {fox};
  training::TrainOptions options;
  const auto task = training::make_task(options, dataset);
  const auto truth = truth_of(dataset, task, {{0, 0}, {1, -1}}, 80);
  ASSERT_EQ(truth.rows.size(), 2U);
  const auto& row = truth.rows.front();
  EXPECT_EQ(row.category, 0);
  ASSERT_EQ(row.landmarks[0].size(), 1U);
  EXPECT_EQ(row.landmarks[0][0].x, 40.0);  // (30 - 10) * 80 / 40
  EXPECT_EQ(row.landmarks[0][0].y, 40.0);  // (30 - 20) * 80 / 20
  EXPECT_TRUE(row.landmarks[1].empty());
  EXPECT_EQ(row.parts[0].area(), 40 * 40);
  EXPECT_TRUE(row.parts[0].contains(39, 39));
  EXPECT_FALSE(row.parts[0].contains(40, 39));
  EXPECT_TRUE(row.parts[1].empty());
  EXPECT_EQ(truth.rows.back().category, -1);
}

class Dissect : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root_); }
  fs::path root_ = fs::path(testing::TempDir()) / "partwise-dissection-test";
};

TEST_F(Dissect, FindsTheSameWhateverTheThreadCountAndCountsEveryFilter) {
  datasets::SyntheticOptions drawing;
  drawing.images = 16;
  drawing.categories = 2;
  drawing.size = 64;
  const auto dataset = datasets::write_synthetic_animals(root_ / "data", drawing, 2);
  training::Recipe recipe;
  recipe.train.epochs = 1;
  const auto run = runs::RunFolder::create(root_ / "run", to_json(recipe), {});
  training::train(run, dataset, {});
  MeasureOptions options;
  options.bootstrap.resamples = 50;
  const auto seen = dissect(run, dataset, options, {});
  options.bootstrap.threads = 1;
  EXPECT_EQ(seen.findings.dump(), dissect(run, dataset, options, {"cpu", 1}).findings.dump());
  for (const auto& layer : seen.findings["layers"]) {
    int64_t filters = 0;
    for (const auto& count : layer["filters_per_category"]) filters += count.get<int64_t>();
    EXPECT_EQ(filters, layer["filters"].get<int64_t>());
  }
  int64_t confusion = 0;
  for (const auto& row : seen.findings["confusion"]) {
    for (const auto& count : row) confusion += count.get<int64_t>();
  }
  EXPECT_EQ(confusion, seen.findings["rows"].get<int64_t>());
  EXPECT_EQ(seen.cards.size(), 24U);  // two layers, three kinds, four each
  for (const auto& card : seen.cards) EXPECT_FALSE(card.rows.empty());
}

}  // namespace
}  // namespace partwise::dissection
