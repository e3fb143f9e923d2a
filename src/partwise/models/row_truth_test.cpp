#include "partwise/models/examples.h"

#include <gtest/gtest.h>

namespace partwise::models {
namespace {

TEST(Truth, PutsLandmarksAndPartsIntoCropPixels) {
  datasets::PartDataset dataset;
  dataset.categories = {{5, "fox", {"head", "tail"}, {"nose", "tail"}}, {6, "deer", {}, {}}};
  datasets::Annotation fox;
  fox.category_id = 5;
  fox.bbox = {10, 20, 40, 20};
  fox.landmarks["nose"] = {{30, 30}};
  fox.parts["head"].bbox = Box{10, 20, 20, 10};
  dataset.annotations = {fox};
  const std::vector<int64_t> categories{5, 6};
  const auto truth = truth_of(dataset, categories, {{0, 0}, {1, -1}}, 80);
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

}  // namespace
}  // namespace partwise::models
