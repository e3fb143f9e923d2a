#include "partwise/base/error.h"
#include "partwise/base/overheard_fixture.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/part_tiles.h"
#include "partwise/tensors/session.h"
#include "partwise/views/golden_fixture.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace partwise::explaining {
namespace {

namespace fs = std::filesystem;
using networks::Arm;

// Networks that were drawn, not trained, and a handful of animals: what a figure shows of them
// means nothing, but it is the same everywhere.
class Figures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    tensors::start_session(1);
    datasets::SyntheticOptions drawing;
    drawing.images = 8;
    drawing.categories = 2;
    drawing.size = 64;
    drawing.test_share = 0.5;
    dataset_ = datasets::write_synthetic_animals(root() / "animals", drawing, 1);
  }
  static void TearDownTestSuite() { remove_folder(root()); }

  static fs::path root() {
    return fs::path(testing::TempDir()) / fmt::format("partwise-figures-test-{}", ::getpid());
  }

  static std::string drawn_run(Arm arm, const std::string& name, int64_t seed = 1) {
    const auto folder = root() / name;
    if (fs::exists(folder)) return folder.string();
    const auto run = runs::RunFolder::create(folder, {{"seed", seed}},
                                             {{"data", (root() / "animals").string()}});
    models::Design design;
    design.net = "tiny";
    design.arm = arm;
    design.seed = seed;
    design.input.side = 112;
    design.task = models::make_task("multi", models::Loss::softmax, dataset_);
    models::claim_model(run, design);
    models::save_checkpoint(run, {{}, models::draw_network(design).state()});
    return folder.string();
  }
  static std::string interpretable() { return drawn_run(Arm::interpretable, "interpretable"); }
  static std::string plain() { return drawn_run(Arm::ordinary_layer, "plain", 2); }

  static std::vector<DrawnRun> opened(const std::vector<std::string>& folders,
                                      const FigureOptions& options,
                                      Needs needs = Needs::maps) {
    const Overheard heard;
    const auto* dataset = needs == Needs::nothing ? nullptr : &dataset_;
    return open_drawn_runs(folders, dataset, "last", options, needs, {"cpu", 1});
  }

  static Plate draw(const std::string& figure,
                    const std::vector<std::string>& folders,
                    const FigureOptions& options) {
    const auto& kind = figure_kind(figure);
    const auto runs = opened(folders, options, kind.needs);
    const Overheard heard;
    return kind.draw(runs, options);
  }

  static std::string refusal(const std::string& figure,
                             const std::string& folder,
                             const FigureOptions& options) {
    try {
      draw(figure, {folder}, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "drawn";
  }

  // Less than half size: a golden picture stays in the history for good.
  static void expect_golden_figure(const std::string& figure,
                                   const std::vector<std::string>& folders,
                                   const FigureOptions& options) {
    constexpr double kScale = 0.45;
    // Untrained maps have near ties: where a peak moves, so does one outline, about 1 % of a
    // figure.
    constexpr double kMayDiffer = 0.02;
    views::expect_golden(compose(draw(figure, folders, options)).image(kScale), "figure_" + figure,
                         kMayDiffer);
  }

  static FigureOptions small() {
    FigureOptions options;
    options.images = 2;
    options.filters = 2;
    return options;
  }

 private:
  static inline datasets::PartDataset dataset_;
};

TEST_F(Figures, OfTemplatesLooksAsItDid) {
  expect_golden_figure("templates", {interpretable()}, small());
}

TEST_F(Figures, OfTheMaskLooksAsItDid) {
  expect_golden_figure("mask", {interpretable()}, small());
}

TEST_F(Figures, OfFiltersLooksAsItDid) {
  auto options = small();
  options.filters = 1;
  expect_golden_figure("filters", {interpretable(), plain()}, options);
}

TEST_F(Figures, OfActivationsLooksAsItDid) {
  auto options = small();
  options.filters = 1;
  expect_golden_figure("activations", {interpretable(), plain()}, options);
}

TEST_F(Figures, OfPlacesLooksAsItDid) {
  auto options = small();
  options.category = "fox";
  expect_golden_figure("places", {interpretable(), plain()}, options);
}

TEST_F(Figures, OfGradCamLooksAsItDid) {
  expect_golden_figure("gradcam", {interpretable(), plain()}, small());
}

TEST_F(Figures, OfContributionsLooksAsItDid) {
  expect_golden_figure("contributions", {interpretable()}, small());
}

TEST_F(Figures, OfErrorsLooksAsItDid) {
  expect_golden_figure("errors", {interpretable()}, small());
}

TEST_F(Figures, AreTheSameForTheSameSeedAndOthersForAnother) {
  auto options = small();
  const auto once = compose(draw("filters", {interpretable()}, options)).svg("", "");
  EXPECT_EQ(once, compose(draw("filters", {interpretable()}, options)).svg("", ""));
  options.seed = 2;
  EXPECT_NE(once, compose(draw("filters", {interpretable()}, options)).svg("", ""));
}

TEST_F(Figures, NeedNoDatasetForTemplates) {
  const auto runs = opened({interpretable()}, {}, Needs::nothing);
  EXPECT_EQ(runs.front().rows(), 0);
  EXPECT_GT(compose(draw_templates(runs, {})).width(), 0.0);
}

TEST_F(Figures, RefuseWhatCannotBeDrawnInOneLineWithTheRemedy) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  FigureOptions options;
  EXPECT_TRUE(has(refusal("mask", plain(), options), "has no mask; draw a run of the arm masked"));
  EXPECT_TRUE(has(refusal("templates", plain(), options), "has no mask"));
  options.filter = 80;
  EXPECT_TRUE(has(refusal("mask", interpretable(), options), "it has filters 0 to 79"));
  options = {};
  options.image = "lion-00001";
  EXPECT_TRUE(has(refusal("gradcam", interpretable(), options), "no image 'lion-00001'"));
  options = {};
  options.category = "lion";
  EXPECT_TRUE(has(refusal("filters", interpretable(), options), "categories are: fox, deer") ||
              has(refusal("filters", interpretable(), options), "no category 'lion'"));
  options = {};
  options.layer = "conv9";
  EXPECT_TRUE(has(refusal("filters", interpretable(), options), "conv4"));
  EXPECT_THROW(figure_kind("filter"), Error);
}

TEST_F(Figures, ShowTheImagesThatWereAskedFor) {
  FigureOptions options;
  const auto runs = opened({interpretable()}, options, Needs::images);
  options.image = fmt::format("{},{}.png", runs[0].image_id[2], runs[0].image_name[1]);
  EXPECT_EQ(rows_to_draw(runs[0], std::nullopt, options, 9), (std::vector<int64_t>{2, 1}));
}

TEST_F(Figures, DrawImagesOfAllCategoriesInTurn) {
  const auto runs = opened({interpretable()}, {}, Needs::images);
  const auto rows = rows_to_draw(runs[0], std::nullopt, {}, 4);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_NE(category_of_row(runs[0], rows[0]), category_of_row(runs[0], rows[1]));
  EXPECT_EQ(category_of_row(runs[0], rows[0]), category_of_row(runs[0], rows[2]));
  EXPECT_EQ(rows_to_draw(runs[0], std::nullopt, {}, 100).size(), 8U);
}

TEST_F(Figures, RankAFiltersImagesFromTheStrongestToTheWeakest) {
  const auto runs = opened({interpretable()}, {});
  const auto order = rows_by_strength(runs[0], 1, 3);
  const auto peaks = runs[0].summaries[1].peaks_of(3);
  ASSERT_EQ(order.size(), 4U);
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_GE(peaks[static_cast<std::size_t>(order[i - 1])],
              peaks[static_cast<std::size_t>(order[i])]);
  EXPECT_EQ(evenly_spaced_ranks(200, 6), (std::vector<std::size_t>{0, 39, 79, 119, 159, 199}));
  EXPECT_EQ(evenly_spaced_ranks(2, 6), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(evenly_spaced_ranks(9, 1), (std::vector<std::size_t>{0}));
}

// Words of the world are of any length: everything stays on the sheet, nothing is empty.
TEST(Plate, KeepsLongNamesOnTheSheet) {
  const std::string word = "Größtmöglicher-Tüpfelhyänenverwandtschaft";
  Plate plate;
  plate.heading = word + " " + word + " " + word;
  plate.columns = {word, word};
  plate.caption = word + " " + word;
  plate.groups = {{word + " " + word, {{word, word + ": " + word, {{{}, word}, {{}, word}}}}}};
  const auto image = compose(plate).image();
  for (int64_t y = 0; y < image.height; ++y) {
    for (const int64_t x : {int64_t{0}, int64_t{4}, image.width - 5, image.width - 1})
      ASSERT_EQ(*image.at(x, y), 255) << x << ", " << y;
  }
}

TEST(Plate, LeavesHeadingAndCaptionToAPageOnRequest) {
  Plate plate;
  plate.heading = "A heading";
  plate.caption = "A caption";
  plate.groups = {{"first", {}}, {"second", {}}};
  EXPECT_LT(compose(plate, PlateWords::labels).height(), compose(plate).height());
  EXPECT_EQ(details_of(plate), "first; second");
}

TEST(Plate, BreaksWordsIntoLinesThatFit) {
  const views::TextStyle style;
  const auto lines = wrapped("a short line and then some more of it", 90.0, style, 9);
  EXPECT_GT(lines.size(), 2U);
  std::string again;
  for (const auto& line : lines) {
    EXPECT_LE(views::text_width(line, style), 90.0);
    again += (again.empty() ? "" : " ") + line;
  }
  EXPECT_EQ(again, "a short line and then some more of it");
  EXPECT_TRUE(wrapped("a short line and then some more", 90.0, style, 1).back().ends_with("…"));
  EXPECT_TRUE(wrapped("", 90.0, style, 3).empty());
}

TEST(PartBars, SumWhatIsLeftOver) {
  Explanation why;
  for (int i = 0; i < 9; ++i) {
    auto& part = why.parts.emplace_back();
    part.name = static_cast<char>('a' + i);
    part.share = 9.0 - i;
  }
  PartColours colours;
  const auto bars = largest_bars(why, &PartShare::share, &PartShare::error, colours);
  ASSERT_EQ(bars.size(), 6U);
  EXPECT_EQ(bars.back().name, "4 smaller ones");
  EXPECT_DOUBLE_EQ(bars.back().value, 4.0 + 3.0 + 2.0 + 1.0);
  EXPECT_NE(colours.of("a"), colours.of("b"));
  EXPECT_EQ(signed_number(-0.001), "0.00");
  EXPECT_EQ(signed_number(-2.5), "−2.50");
}

}  // namespace
}  // namespace partwise::explaining
