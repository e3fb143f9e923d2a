#include "partwise/models/model.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/models/activations.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace partwise::models {
namespace {

namespace fs = std::filesystem;

nlohmann::json options_of(const std::string& arm) {
  return {{"net", "tiny"},    {"arm", arm},  {"task", "multi"}, {"loss", "logistic"}, {"seed", 3},
          {"strength", 0.02}, {"beta", 5.0}, {"hidden", 20},    {"dropout", 0.25}};
}

class ModelOfARun : public testing::Test {
 protected:
  void SetUp() override {
    datasets::SyntheticOptions drawing;
    drawing.images = 8;
    drawing.categories = 2;
    drawing.size = 64;
    data_ = datasets::write_synthetic_animals(root_ / "data", drawing, 2);
  }
  void TearDown() override { remove_folder(root_); }

  // A run whose network is as it was drawn; `known`: with model.json.
  runs::RunFolder run(const std::string& name, const std::string& arm, bool known) const {
    const auto options = options_of(arm);
    const auto run =
        runs::RunFolder::create(root_ / name, options, {{"data", (root_ / "data").string()}});
    const auto design = make_design(options, data_);
    if (known) claim_model(run, design);
    save_checkpoint(run, {{.epoch = 2}, draw_network(design).state()});
    return run;
  }

  fs::path root_ = fs::path(testing::TempDir()) / fmt::format("partwise-model-test-{}", ::getpid());
  datasets::PartDataset data_;
};

TEST_F(ModelOfARun, IsWhatItWasAlsoWithoutItsDataset) {
  const auto before = make_design(options_of("masked"), data_);
  const auto made = run("run", "masked", true);
  fs::rename(root_ / "data", root_ / "gone");
  fs::rename(root_ / "run", root_ / "elsewhere");
  const auto model = open_model(runs::RunFolder::open(root_ / "elsewhere"));
  EXPECT_EQ(model.position.epoch, 2);
  EXPECT_EQ(model.design.net, "tiny");
  EXPECT_EQ(model.design.arm, networks::Arm::masked);
  EXPECT_EQ(model.design.parts.strength, 0.0);  // in force, not as given
  EXPECT_EQ(model.design.parts.beta, 5.0);
  EXPECT_EQ(model.design.input.side, model.network.architecture().input_side);
  EXPECT_EQ(class_names(model.design.task), class_names(before.task));
  EXPECT_EQ(model.design.task.category_ids, before.task.category_ids);
  const auto weights = draw_network(before).state();
  for (const auto& [name, tensor] : model.network.state())
    EXPECT_TRUE(torch::equal(tensor, weights.at(name))) << name;
}

TEST_F(ModelOfARun, OfAnOlderProgramOpensWhereItsDatasetIs) {
  const auto made = run("run", "interpretable", false);
  const auto weights = open_model(made).network.state();
  fs::rename(root_ / "data", root_ / "moved");
  try {
    open_model(made);
    FAIL() << "expected a refusal";
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find((root_ / "data").string()), std::string::npos) << said;
    EXPECT_NE(said.find("--data"), std::string::npos) << said;
  }
  EXPECT_EQ(open_model(made, "last", root_ / "moved").network.state().size(), weights.size());
}

TEST_F(ModelOfARun, CannotGoOnWithOtherCategories) {
  const auto made = run("run", "interpretable", true);
  EXPECT_NO_THROW(claim_model(made, make_design(made.options(), data_)));
  auto renamed = data_;
  std::swap(renamed.categories[0].name, renamed.categories[1].name);
  EXPECT_THROW(claim_model(made, make_design(made.options(), renamed)), Error);
}

TEST_F(ModelOfARun, FindsItsCategoriesInAnotherDatasetByName) {
  auto other = data_;
  std::swap(other.categories[0], other.categories[1]);
  const auto task = make_design(options_of("masked"), data_).task;
  EXPECT_EQ(task_on(other, task).category_ids, task.category_ids);
  other.categories.pop_back();
  EXPECT_THROW(task_on(other, task), Error);
}

TEST_F(ModelOfARun, SaysWhichRuleGaveAFilterItsCategory) {
  const auto made = run("run", "interpretable", true);
  auto model = open_model(made);
  ASSERT_EQ(model.categories.size(), 2U);  // both layers have a mask
  for (const auto& layer : model.categories) EXPECT_EQ(layer.rule, CategoryRule::memory);
  record_categories(made, model.categories, model.position);
  const std::vector<FilterCategories> seen{{"conv4", CategoryRule::training_rows, {1, 0, 1}}};
  record_categories(made, seen, model.position);
  model = open_model(made);
  ASSERT_EQ(model.categories.size(), 3U);
  EXPECT_EQ(model.categories[2].rule, CategoryRule::training_rows);
  EXPECT_EQ(model.categories[2].category, seen[0].category);
  EXPECT_EQ(read_json(made.path() / "model.json").at("filter_categories").size(), 3U);
  record_categories(made, {{"conv4", CategoryRule::training_rows, {0}}}, {.epoch = 3});
  EXPECT_EQ(open_model(made).categories.size(), 2U);  // of another checkpoint
  EXPECT_EQ(read_json(made.path() / "model.json").at("filter_categories").size(), 3U);
  EXPECT_TRUE(open_model(run("ordinary", "ordinary", true)).categories.empty());
}

TEST_F(ModelOfARun, ADamagedDescriptionIsNamed) {
  const auto made = run("run", "masked", true);
  const auto whole = read_json(made.path() / "model.json");
  const auto refused = [&](const char* key, const nlohmann::json& value) {
    auto json = whole;
    json[key] = value;
    write_json_atomically(made.path() / "model.json", json);
    EXPECT_THROW(design_of(made), Error) << key;
  };
  refused("format", 2);
  refused("net", 7);
  refused("arm", "maskd");
  refused("categories", {"fox"});
  refused("task", "binary:fox");
  refused("input", {{"side", 7}});
  refused("parts", {{"beta", -1.0}});
}

}  // namespace
}  // namespace partwise::models
