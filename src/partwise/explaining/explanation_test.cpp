#include "partwise/explaining/explanation.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/overheard_fixture.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/explaining/confusions.h"
#include "partwise/explaining/explanation_picture.h"
#include "partwise/explaining/part_book.h"
#include "partwise/models/run_data.h"
#include "partwise/tensors/torch.h"
#include "partwise/views/golden_fixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <unistd.h>

namespace partwise::explaining {
namespace {

namespace fs = std::filesystem;

// A run of one untrained network: what explanations must keep to does not depend on training.
class ARun : public testing::Test {
 protected:
  ARun() {
    remove_folder(root_);
    datasets::SyntheticOptions drawing;
    drawing.images = 24;
    drawing.categories = 3;
    drawing.size = 64;
    dataset_ = datasets::write_synthetic_animals(root_ / "animals", drawing, 1);
  }
  ~ARun() override { remove_folder(root_); }

  runs::RunFolder run(const nlohmann::json& more = nlohmann::json::object(),
                      const nlohmann::json& recorded = nlohmann::json::object()) {
    nlohmann::json options{{"net", "tiny"},   {"arm", "interpretable"},
                           {"task", "multi"}, {"loss", "softmax"},
                           {"seed", 3},       {"hidden", 16}};
    options.update(more);
    nlohmann::json manifest{{"data", (root_ / "animals").string()}};
    manifest.update(recorded);
    auto folder = runs::RunFolder::create(root_ / "run", options, manifest);
    const auto design = models::make_design(options, dataset_);
    models::claim_model(folder, design);
    const auto network = models::draw_network(design);
    models::save_checkpoint(folder, {{.epoch = 1}, network.state()});
    return folder;
  }

  Explainer learnt(const runs::RunFolder& folder) {
    const LearningOptions quickly{.images = 3, .by_place = false, .naming = {}};
    EXPECT_TRUE(provide_part_book(folder, {}, models::Resources{}, "last", quickly));
    return {folder, "last", "cpu"};
  }

  images::Image scene(int64_t category, int64_t index) {
    return datasets::draw_scene(category, index, 64, 1).image;
  }

  fs::path root_ =
      fs::temp_directory_path() / fmt::format("partwise-explanation-test-{}", ::getpid());
  datasets::PartDataset dataset_;
};

TEST_F(ARun, ItsSharesAddUpToTheEvidence) {
  const auto explainer = learnt(run());
  const auto found = explainer.explain(scene(0, 1), {4.0, 6.0, 50.0, 40.0});
  double parts = 0.0;
  double contrast = 0.0;
  for (const auto& part : found.parts) {
    parts += part.share;
    contrast += part.contrast;
  }
  double filters = 0.0;
  for (const auto& filter : found.filters) filters += filter.share;
  const double tolerance = 1e-4 * (1.0 + std::abs(found.evidence()));  // single precision
  EXPECT_NEAR(parts, found.evidence(), tolerance);
  EXPECT_NEAR(filters, found.evidence(), tolerance);
  EXPECT_LT(found.completeness_error, tolerance);
  EXPECT_NE(found.decision, found.other);
  EXPECT_GE(found.probability, found.other_probability);
  ASSERT_TRUE(found.standing.has_value());
  // Places lie in the box that was looked at.
  for (const auto& part : found.parts) {
    for (const auto& outline : part.outlines) {
      for (const auto& point : outline) {
        EXPECT_GE(point.x, 4.0 - 1e-9);
        EXPECT_LE(point.y, 46.0 + 1e-9);
      }
    }
  }
}

TEST_F(ARun, AContrastIsTheDifferenceOfTwoClasses) {
  const auto explainer = learnt(run());
  const auto photo = scene(1, 2);
  const Box whole{0.0, 0.0, 64.0, 64.0};
  const auto first = explainer.explain(photo, whole);
  std::string third;
  for (const auto& name : explainer.classes()) {
    if (name != first.decision && name != first.other) third = name;
  }
  const auto against = explainer.explain(photo, whole, {third});
  EXPECT_EQ(against.other, third);
  EXPECT_EQ(against.decision, first.decision);
  ASSERT_EQ(first.parts.size(), against.parts.size());
  EXPECT_EQ(first.parts[0].share, against.parts[0].share);
  EXPECT_NE(first.parts[0].contrast, against.parts[0].contrast);
  EXPECT_THROW(explainer.explain(photo, whole, {"cow"}), Error);
}

TEST_F(ARun, NamesOfPeopleBeatTheProgramsAndMergersJoinParts) {
  const auto folder = run();
  auto names = PeopleNames{};
  for (int64_t filter = 0; filter < 80; ++filter)
    names.names["new"][filter] = filter % 2 == 0 ? "even" : "odd";
  write_people_names(folder, names);
  const auto photo = scene(0, 3);
  const Box whole{0.0, 0.0, 64.0, 64.0};
  const auto apart = learnt(folder).explain(photo, whole);
  ASSERT_EQ(apart.parts.size(), 2U);
  merge_part(names, "odd", "even");
  write_people_names(folder, names);
  const auto joined = learnt(folder).explain(photo, whole);
  ASSERT_EQ(joined.parts.size(), 1U);
  EXPECT_EQ(joined.parts[0].name, "even");
  EXPECT_NEAR(joined.parts[0].share, joined.evidence(), 1e-4);
  EXPECT_THROW(merge_part(names, "even", "odd"), Error);
}

TEST_F(ARun, ABinaryNetworkExplainsWhatItDenies) {
  const auto explainer = learnt(run({{"task", "binary:fox"}, {"loss", "logistic"}}));
  for (int64_t i = 0; i < 4; ++i) {
    const auto found = explainer.explain(scene(i % 2, i), {0.0, 0.0, 64.0, 64.0});
    EXPECT_EQ(found.asked, "fox");
    EXPECT_NEAR(found.probability + found.other_probability, 1.0, 1e-6);
    const double sign = found.decision == "fox" ? 1.0 : -1.0;
    for (const auto& part : found.parts) EXPECT_NEAR(part.contrast, sign * part.share, 1e-9);
  }
}

TEST_F(ARun, WithoutItsImagesFiltersGoByTheirCategory) {
  const auto folder = run();
  remove_folder(root_ / "animals");
  EXPECT_FALSE(provide_part_book(folder, {}, models::Resources{}));
  const Explainer explainer(folder, "last", "cpu");
  EXPECT_FALSE(explainer.knows_parts());
  const auto found = explainer.explain(scene(0, 1), {0.0, 0.0, 64.0, 64.0});
  EXPECT_FALSE(found.standing.has_value());
  ASSERT_FALSE(found.parts.empty());
}

TEST_F(ARun, WhyItsOwnDatasetCannotServeIsSaidAndANamedOneMust) {
  const auto folder = run();
  write_file_atomically(root_ / "animals" / "dataset.json", "[]");
  const Overheard heard;
  EXPECT_FALSE(provide_part_book(folder, {}, models::Resources{}));
  ASSERT_FALSE(heard.lines().empty());
  EXPECT_NE(heard.lines().back().find("dataset.json"), std::string::npos);
  EXPECT_THROW(provide_part_book(folder, root_ / "animals", models::Resources{}), Error);
  EXPECT_THROW(provide_part_book(folder, root_ / "nowhere", models::Resources{}), Error);
}

// Whoever looks at a run on other photographs must not leave their names and quantiles in it.
TEST_F(ARun, ItsPartsAreLearntFromWhatItWasTrainedOnWhateverItIsLookedAtOn) {
  const auto folder =
      run(nlohmann::json::object(), {{"data_hash", models::data_record(dataset_).at("data_hash")}});
  datasets::SyntheticOptions drawing{.images = 12, .categories = 3, .size = 64};
  const auto other = datasets::write_synthetic_animals(root_ / "other", drawing, 2);
  const auto book_on = [&](const datasets::PartDataset& data) {
    const LearningOptions quickly{.images = 3, .by_place = false, .naming = {}};
    provide_part_book_from(data, folder, models::Resources{}, "last", quickly);
    return read_part_book(folder, models::open_model(folder, "last", {}));
  };
  fs::rename(root_ / "animals", root_ / "away");
  EXPECT_FALSE(book_on(other));
  EXPECT_FALSE(fs::exists(part_book_file(folder)));
  fs::rename(root_ / "away", root_ / "animals");
  const auto book = book_on(other);
  ASSERT_TRUE(book);
  EXPECT_EQ(book->data_hash, folder.manifest().at("data_hash"));
  fs::remove(part_book_file(folder));
  fs::rename(root_ / "animals", root_ / "moved");
  EXPECT_TRUE(book_on(datasets::load_dataset(root_ / "moved")));
}

TEST_F(ARun, ABoxOutsideThePhotographIsRefused) {
  const auto explainer = learnt(run());
  for (const Box box :
       {Box{64.0, 0.0, 10.0, 10.0}, Box{-20.0, 0.0, 10.0, 10.0}, Box{0.0, 0.0, 0.0, 5.0}})
    EXPECT_THROW(explainer.explain(scene(0, 1), box), Error);
  EXPECT_NO_THROW(explainer.explain(scene(0, 1), {60.0, 60.0, 40.0, 40.0}));  // the part inside
}

TEST_F(ARun, ABookOfAnotherCheckpointOrADamagedOneIsNotUsed) {
  const auto folder = run();
  const auto explainer = learnt(folder);
  auto json = read_json(root_ / "run" / "parts.json");
  auto older = json;
  older["epoch"] = 0;
  write_json_atomically(root_ / "run" / "parts.json", older);
  EXPECT_FALSE(read_part_book(folder, explainer.model()).has_value());
  json["layers"].erase(1);
  write_json_atomically(root_ / "run" / "parts.json", json);
  EXPECT_THROW(read_part_book(folder, explainer.model()), Error);
  write_file_atomically(root_ / "run" / "parts.json", "[]");
  EXPECT_THROW(read_part_book(folder, explainer.model()), Error);
}

// As a process leaves it that is killed between the two files.
TEST_F(ARun, ABookBesideTheAdditiveOfAnotherIsNotUsed) {
  const auto folder = run();
  const auto explainer = learnt(folder);
  const auto book = read_part_book(folder, explainer.model());
  ASSERT_TRUE(book.has_value());
  const auto filters = std::ssize(book->layers.back().filters);
  const auto outputs = explainer.model().design.task.outputs();
  AdditiveOptions quickly;
  quickly.steps = 1;
  AdditiveExplainer::distil(torch::rand({8, filters}), torch::rand({8, outputs}),
                            torch::rand({filters, outputs}), quickly)
      .save(folder);
  EXPECT_FALSE(read_part_book(folder, explainer.model()).has_value());
  auto of_an_older_program = read_json(part_book_file(folder));
  of_an_older_program.erase("additive");
  write_sealed_json(part_book_file(folder), of_an_older_program);
  EXPECT_TRUE(read_part_book(folder, explainer.model()).has_value());
}

TEST_F(ARun, EveryMistakeIsExplainedAgainstTheTruth) {
  const auto folder = run();
  const auto explainer = learnt(folder);
  const auto& task = explainer.model().design.task;
  const auto examples =
      models::load_examples(dataset_, task, "all", explainer.model().design.input.side, 1);
  const auto pairs = confused_pairs(explainer, task, examples, "cpu");
  int64_t mistakes = 0;
  for (const auto& pair : pairs) {
    EXPECT_NE(pair.truth, pair.decided);
    for (const auto& mistake : pair.mistakes) {
      EXPECT_EQ(mistake.explanation.decision, pair.decided);
      EXPECT_EQ(mistake.explanation.other, pair.truth);
    }
    mistakes += std::ssize(pair.mistakes);
  }
  EXPECT_GT(mistakes, 0);  // it was never trained
  EXPECT_LE(mistakes, 72);
}

// Numbers made up, so that no processor's rounding moves a line.
TEST(ExplanationPicture, IsWhatSomebodyLookedAt) {
  auto photo = images::Image::blank(64, 48, 170);
  for (int64_t y = 10; y < 40; ++y) {
    for (int64_t x = 12; x < 54; ++x) photo.at(x, y)[1] = static_cast<uint8_t>(90 + 2 * x);
  }
  Explanation of;
  of.box = {6.0, 4.0, 52.0, 40.0};
  of.decision = of.asked = "fox";
  of.probability = 0.934;
  of.other = "cat <b>";
  of.other_probability = 0.05;
  of.score = 3.4;
  of.baseline = -1.1;
  of.standing = 0.43;
  of.completeness_error = 2e-7;
  of.layer = "new";
  const auto part = [&](const char* name, double share, double contrast, Point at) {
    PartShare one;
    one.name = name;
    one.share = share;
    one.contrast = contrast;
    one.place = at;
    one.outlines = {
        {{at.x - 7, at.y - 5}, {at.x + 7, at.y - 6}, {at.x + 6, at.y + 6}, {at.x - 6, at.y + 5}}};
    of.parts.push_back(one);
  };
  part("head", 2.6, 1.2, {20.0, 16.0});
  part("tail", 1.4, 2.0, {46.0, 20.0});
  part("back-legs", -0.4, -0.7, {40.0, 36.0});
  PartShare rest;
  rest.name = kOtherFilters;
  rest.share = 0.9;
  rest.contrast = 0.1;
  of.parts.push_back(rest);
  auto strong = explanation_picture(photo, of, "photo.jpg").image(0.5);
  views::expect_golden(strong, "explanation");
  of.standing = 0.01;
  EXPECT_TRUE(of.weak());
  EXPECT_NE(explanation_line(of).find("weak evidence"), std::string::npos);
  EXPECT_EQ(explanation_line(of).find("weak"), explanation_line(of).rfind("weak"));
  EXPECT_NE(evidence_words(of).find("Weak evidence: only 1 %"), std::string::npos);
}

}  // namespace
}  // namespace partwise::explaining
