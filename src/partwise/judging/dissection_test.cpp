#include "partwise/judging/dissection.h"

#include "partwise/datasets/synthetic_animals.h"
#include "partwise/judging/extra_metrics.h"
#include "partwise/models/model.h"

#include <gtest/gtest.h>

namespace partwise::judging {
namespace {

namespace fs = std::filesystem;

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
  const nlohmann::json drawn{{"net", "tiny"},
                             {"arm", "interpretable"},
                             {"task", "multi"},
                             {"loss", "softmax"},
                             {"seed", 1}};
  const auto run = runs::RunFolder::create(root_ / "run", drawn, {});
  const auto design = models::make_design(drawn, dataset);
  models::claim_model(run, design);
  models::save_checkpoint(run, {{}, models::draw_network(design).state()});
  MeasureOptions options;
  options.measures.bootstrap.resamples = 50;
  options.measures.extras = judging::extra_metric_names();
  options.random_control = true;
  const auto seen = dissect(run, dataset, options, {});
  options.measures.bootstrap.threads = 1;
  EXPECT_EQ(seen.findings.dump(), dissect(run, dataset, options, {"cpu", 1}).findings.dump());
  for (const auto& layer : seen.findings["layers"]) {
    for (const char* key : {"purity", "single_filter_auc", "part_stability"})
      EXPECT_TRUE(layer[key]["controls"].contains("random_weights")) << key;
    EXPECT_GE(layer["single_filter_accuracy"]["value"],
              layer["single_filter_accuracy"]["controls"]["majority_class"]);
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
}  // namespace partwise::judging
