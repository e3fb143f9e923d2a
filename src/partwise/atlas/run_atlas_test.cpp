#include "partwise/atlas/run_atlas.h"

#include "partwise/atlas/explained_photo.h"
#include "partwise/atlas/filter_evidence.h"
#include "partwise/atlas/filter_pictures.h"
#include "partwise/atlas/library.h"
#include "partwise/atlas/shown_run_fixture.h"
#include "partwise/base/error.h"
#include "partwise/base/overheard_fixture.h"
#include "partwise/images/codec.h"
#include "partwise/models/decisions.h"
#include "partwise/models/run_data.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace partwise::atlas {
namespace {

using namespace std::chrono_literals;

class AnAtlas : public ShownRuns {
 protected:
  RunAtlas open(const std::string& arm = "interpretable") const {
    return open_atlas(run(arm, arm), dataset_, {}, models::Resources{.threads = 1});
  }
};

TEST_F(AnAtlas, KnowsEveryFilterOfEveryLayer) {
  const auto atlas = open();
  ASSERT_EQ(atlas.layers.size(), 2U);
  ASSERT_TRUE(atlas.look);
  for (std::size_t tap = 0; tap < 2; ++tap) {
    const auto& layer = atlas.look->layers[tap];
    const auto filters = static_cast<std::size_t>(atlas.layers[tap].filters);
    EXPECT_TRUE(atlas.layers[tap].has_mask);
    EXPECT_EQ(layer.numbers.size(), filters);
    EXPECT_EQ(layer.silent.size(), filters);
    EXPECT_EQ(atlas.categories[tap].size(), filters);
    EXPECT_EQ(layer.peaks.rows, atlas.look->judged.rows());
    for (const int64_t category : atlas.categories[tap]) EXPECT_GE(category, 0);
  }
  EXPECT_TRUE(atlas.look->layers[0].changes.empty());
  EXPECT_FALSE(atlas.look->layers[1].changes.empty());
  const auto decisions =
      models::decide(atlas.network(), atlas.look->task, atlas.look->judged, "cpu");
  for (std::size_t row = 0; row < decisions.truth.size(); ++row) {
    EXPECT_EQ(atlas.look->decisions[row].decided, decisions.decided[row]);
    EXPECT_EQ(atlas.look->decisions[row].truth, decisions.truth[row]);
  }
}

TEST_F(AnAtlas, SilencingEverythingLeavesTheBaseline) {
  const auto atlas = open();
  const auto photo = datasets::draw_scene(1, 2, 64, 1).image;
  const auto explained = explain_photo(atlas, photo, Box{4, 4, 50, 50}, "");
  const auto& explanation = explained.explanation;
  Silence everything;
  for (const auto& part : explanation.parts) everything.parts.push_back(part.label());
  const auto left = silence(atlas, explained, everything);
  const double tolerance = 1e-4 * (1.0 + std::abs(explanation.evidence()));  // single precision
  EXPECT_NEAR(left.score, explanation.baseline, tolerance);
  EXPECT_NEAR(left.actual, -explanation.evidence(), tolerance);
  EXPECT_NEAR(left.predicted, -explanation.evidence(), tolerance);
  ASSERT_TRUE(left.additive);
  const auto nothing = silence(atlas, explained, {});
  EXPECT_NEAR(nothing.actual, 0.0, tolerance);
  EXPECT_EQ(nothing.predicted, 0.0);
  EXPECT_EQ(nothing.decision, explanation.decision);
  EXPECT_NEAR(nothing.probability, explanation.probability, 1e-5);  // the same sums, otherwise cut
}

TEST_F(AnAtlas, SilencingOnePartIsWhatTheExplanationSays) {
  const auto atlas = open();
  const auto explained =
      explain_photo(atlas, datasets::draw_scene(0, 3, 64, 1).image, std::nullopt, "");
  for (const auto& part : explained.explanation.parts) {
    const auto by_part = silence(atlas, explained, {{part.label()}, {}});
    const auto by_filters = silence(atlas, explained, {{}, part.filters});
    EXPECT_NEAR(by_part.actual, -part.silenced, 1e-4);  // single precision
    EXPECT_NEAR(by_part.predicted, -part.share, 1e-12);
    EXPECT_NEAR(by_filters.actual, by_part.actual, 1e-6);
    // The same filters named twice are silenced once.
    EXPECT_NEAR(silence(atlas, explained, {{part.label(), part.label()}, part.filters}).actual,
                by_part.actual, 1e-6);
  }
  EXPECT_THROW(silence(atlas, explained, {{"no such part"}, {}}), Error);
  EXPECT_THROW(silence(atlas, explained, {{}, {100000}}), Error);
}

TEST_F(AnAtlas, ShowsAFiltersNumbersWithIntervalAndControl) {
  const auto atlas = open();
  const auto words = words_of_layer("new", atlas.layers[1].filters, atlas.parts_of(1), {});
  for (const auto& own :
       filter_evidence(atlas, 1, 4, words[4], AtlasRequest{}, {.resamples = 50, .threads = 1})) {
    EXPECT_GT(own.n, 0) << own.key;
    EXPECT_FALSE(own.finding.controls.empty()) << own.key;
    if (std::isnan(own.finding.value)) continue;
    EXPECT_LE(own.finding.low, own.finding.value + 1e-9) << own.key;
    EXPECT_GE(own.finding.high, own.finding.value - 1e-9) << own.key;
  }
  const auto& numbers = atlas.look->layers[1].numbers[4];
  for (const auto& own :
       filter_evidence(atlas, 1, 4, words[4], AtlasRequest{}, {.resamples = 50, .threads = 1})) {
    const auto in_table = own.key == "part_interpretability" ? numbers.part_interpretability
                          : own.key == "instability_ratio"   ? numbers.instability_ratio
                          : own.key == "purity"              ? numbers.purity
                          : own.key == "peak"                ? numbers.peak
                          : own.key == "matters"             ? numbers.matters
                                                             : own.finding.value;
    if (std::isnan(in_table)) continue;
    EXPECT_NEAR(own.finding.value, in_table, 1e-9) << own.key;  // sums in another order
  }
}

TEST_F(AnAtlas, DrawsEveryPicture) {
  const auto atlas = open();
  for (const auto picture : values_of<Picture>()) {
    const auto drawn = draw_picture(atlas, {1, 2, 3, picture, 80});
    EXPECT_EQ(drawn.width, 80);
    EXPECT_EQ(drawn.height, 80);
  }
  EXPECT_EQ(draw_tile(atlas, 0, 1, 48).width, 48);
}

TEST_F(AnAtlas, OfAnOrdinaryNetworkHasNoMask) {
  const auto atlas = open("ordinary");
  for (const auto& layer : atlas.layers) EXPECT_FALSE(layer.has_mask);
}

TEST_F(AnAtlas, OpensWithoutItsData) {
  const auto folder = run("alone");
  remove_folder(root_ / "animals");
  Library library({folder.path().string()}, {}, models::Resources{.threads = 1}, [] {});
  auto* shown = library.find("alone");
  ASSERT_NE(shown, nullptr);
  const auto atlas = shown->atlas_within(60s);
  ASSERT_NE(atlas, nullptr);
  EXPECT_FALSE(atlas->look);
  EXPECT_FALSE(shown->data().there);
  EXPECT_NE(shown->data().why.find("--data"), std::string::npos);
  const auto explained =
      explain_photo(*atlas, datasets::draw_scene(0, 3, 64, 1).image, std::nullopt, "");
  EXPECT_FALSE(explained.explanation.decision.empty());
}

TEST_F(AnAtlas, IsOpenBeforeItKnowsItsParts) {
  const auto folder = run("young", "interpretable", false);
  Library library({folder.path().string()}, {}, models::Resources{.threads = 1}, [] {});
  auto& shown = *library.runs().front();
  const auto first = shown.atlas_within(60s);
  ASSERT_NE(first, nullptr);
  while (shown.is_learning()) std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(shown.atlas()->explainer->knows_parts());
  EXPECT_FALSE(first->explainer->knows_parts());
  EXPECT_EQ(shown.atlas()->look, first->look);
}

TEST_F(AnAtlas, SaysThatItsDataHaveChanged) {
  const auto folder = run("changed");
  write_json_atomically(folder.path() / "manifest.json",
                        {{"data", (root_ / "animals").string()}, {"data_hash", "0123"}});
  Library library({folder.path().string()}, {}, models::Resources{.threads = 1}, [] {});
  const auto& shown = *library.runs().front();
  const auto atlas = shown.atlas_within(60s);
  ASSERT_NE(atlas, nullptr);
  EXPECT_FALSE(atlas->look);
  const auto status = shown.data();
  EXPECT_FALSE(status.there);
  EXPECT_NE(status.why.find("has changed"), std::string::npos) << status.why;
}

TEST_F(AnAtlas, OfChangedPhotographsShowsAndLearnsNothingUnlessTheyAreNamed) {
  const auto folder = run("replaced", "interpretable", false);
  write_json_atomically(folder.path() / "manifest.json", models::data_record(dataset_));
  const auto& replaced = dataset_.images.front();
  write_file_atomically(
      dataset_.root / replaced.file_name,
      images::encode_png(images::Image::blank(replaced.width, replaced.height, 99)));
  const auto open_with = [&](const std::filesystem::path& data) {
    const Overheard heard;
    {
      Library library({folder.path().string()}, data, models::Resources{.threads = 1}, [] {});
      const auto& shown = *library.runs().front();
      const auto atlas = shown.atlas_within(60s);
      EXPECT_TRUE(atlas);
      while (shown.is_learning()) std::this_thread::sleep_for(10ms);
      const bool named = !data.empty();
      EXPECT_EQ(atlas && atlas->look, named);
      EXPECT_EQ(shown.data().there, named);
      EXPECT_EQ(shown.data().why.find("image files") == std::string::npos, named);
      EXPECT_EQ(std::filesystem::exists(explaining::part_book_file(folder)), named);
    }
    return std::count_if(heard.lines().begin(), heard.lines().end(), [](const auto& line) {
      return line.find("have changed since it was trained") != std::string::npos;
    });
  };
  EXPECT_EQ(open_with({}), 1);
  EXPECT_EQ(open_with(dataset_.root), 1);
}

TEST_F(AnAtlas, OfDataItWasNotMeasuredOnShowsNothing) {
  const auto folder = run("elsewhere");
  findings::RunFindings found;
  found.net = "tiny";
  found.arm = "interpretable";
  found.findings["accuracy"] = {0.5, 0.4, 0.6};
  for (const auto said : {&findings::RunFindings::data_hash, &findings::RunFindings::images_hash}) {
    auto elsewhere = found;
    elsewhere.*said = "0123";
    write_json_atomically(folder.path() / "findings.json", findings::to_json(elsewhere));
    Library library({folder.path().string()}, {}, models::Resources{.threads = 1}, [] {});
    const auto& shown = *library.runs().front();
    const auto atlas = shown.atlas_within(60s);
    ASSERT_NE(atlas, nullptr);
    EXPECT_FALSE(atlas->look);
    EXPECT_NE(shown.data().why.find("is not what elsewhere was measured on"), std::string::npos)
        << shown.data().why;
  }
}

TEST_F(AnAtlas, OfARunInTrainingWaitsForItsEnd) {
  const auto folder = run("busy");
  const runs::RunLock training(folder.path());
  Library library({folder.path().string()}, {}, models::Resources{.threads = 1}, [] {});
  const auto& shown = *library.runs().front();
  EXPECT_EQ(shown.state(), RunState::training);
  EXPECT_FALSE(shown.is_opening());
  EXPECT_EQ(shown.atlas_within(0ms), nullptr);
}

TEST_F(AnAtlas, IsOpenedAnewWhenItsRunHasChanged) {
  const auto folder = run("changing");
  Library library({folder.path().string()}, {}, models::Resources{.threads = 1}, [] {});
  auto& shown = *library.runs().front();
  const auto before = shown.atlas_within(60s);
  ASSERT_TRUE(before);
  while (shown.is_learning()) std::this_thread::sleep_for(10ms);
  const auto stamp = shown.stamp();
  library.open_what_can_be();
  EXPECT_FALSE(shown.is_opening());
  std::filesystem::last_write_time(folder.checkpoints(),
                                   std::filesystem::file_time_type::clock::now() + 5s);
  library.open_what_can_be();
  const auto after = shown.atlas_within(60s);
  EXPECT_NE(after, before);
  EXPECT_NE(shown.stamp(), stamp);
}

TEST_F(AnAtlas, GivesRunsOfOneNameTheirOwnIds) {
  run("first/fox", "interpretable", false);
  run("second/fox", "interpretable", false);
  remove_folder(root_ / "animals");  // to be open at once
  Library library({(root_ / "first/fox").string(), (root_ / "second/fox/").string()}, {},
                  models::Resources{.threads = 1}, [] {});
  EXPECT_NE(library.find("fox"), nullptr);
  EXPECT_NE(library.find("fox-2"), nullptr);
  EXPECT_NE(library.runs()[0]->label, library.runs()[1]->label);
}

}  // namespace
}  // namespace partwise::atlas
