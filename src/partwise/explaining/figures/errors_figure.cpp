#include "partwise/base/random.h"
#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/part_tiles.h"
#include "partwise/explaining/figures/tiles.h"
#include "partwise/models/decisions.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::explaining {
namespace {

constexpr int64_t kStandardErrors = 5;
constexpr uint64_t kErrorStream = 0x6572726f;

std::vector<int64_t> wrong_rows(const DrawnRun& run, std::optional<int64_t> category) {
  const auto decisions = models::decide(run.network(), run.task, run.examples, run.device);
  const auto shown = models::to_vector(run.examples.category);
  std::vector<int64_t> wrong;
  for (int64_t row = 0; row < run.rows(); ++row) {
    if (!decisions.right(row) && (!category || shown[static_cast<std::size_t>(row)] == *category))
      wrong.push_back(row);
  }
  return wrong;
}

struct WrongDecision {
  int64_t row = 0;
  std::string truth;
  Explanation why;
};

std::vector<WrongDecision> wrong_decisions_of(const DrawnRun& run, std::span<const int64_t> rows) {
  const Explainer explainer(run.run, run.checkpoint, run.device);
  const auto names = models::class_names(run.task);
  const auto classes = models::to_vector(models::decision_classes(run.task, run.examples.category));
  std::vector<WrongDecision> mistakes;
  for (const int64_t row : rows) {
    ExplainOptions asked;
    asked.against = names[static_cast<std::size_t>(classes[static_cast<std::size_t>(row)])];
    asked.outlined = 12;
    asked.filters = false;
    mistakes.push_back(
        {row, asked.against, explainer.explain_crop(run.examples.pixels[row], asked)});
  }
  return mistakes;
}

PlateRow mistake_row(const DrawnRun& run,
                     const WrongDecision& mistake,
                     double low,
                     double high,
                     PartColours& colours) {
  const auto& why = mistake.why;
  const auto photo = photo_of(run, mistake.row);
  // What decides: parts of some weight beside the strongest.
  double largest = 0.0;
  for (const auto& part : why.parts) largest = std::max(largest, std::abs(part.contrast));
  const double least = kLeastShown * largest;
  PlateRow row;
  row.label = fmt::format("{} taken for {}", mistake.truth, why.decision);
  row.more = fmt::format("{} {:.0f} %, {} {:.0f} %", why.decision, 100.0 * why.probability,
                         mistake.truth, 100.0 * why.other_probability);
  row.tiles.push_back(photo_tile(photo, run.image_name[static_cast<std::size_t>(mistake.row)]));
  const auto bars = largest_bars(why, &PartShare::contrast, &PartShare::contrast_error, colours);
  row.tiles.push_back(parts_tile(
      photo, why, colours, [&](const PartShare& part) { return part.contrast >= least; },
      "for " + why.decision));
  row.tiles.push_back(parts_tile(
      photo, why, colours, [&](const PartShare& part) { return part.contrast <= -least; },
      "for " + mistake.truth));
  row.tiles.push_back(
      bars_tile(bars, low, high, {"← for " + mistake.truth, "for " + why.decision + " →"}));
  return row;
}

}  // namespace

Plate draw_errors(std::span<const DrawnRun> runs, const FigureOptions& options) {
  const auto count =
      static_cast<std::size_t>(options.images > 0 ? options.images : kStandardErrors);
  std::vector<std::vector<WrongDecision>> mistakes;
  std::vector<std::size_t> wrong;
  bool by_silence = false;
  double low = 0.0;
  double high = 0.0;
  for (const auto& run : runs) {
    auto rows = wrong_rows(run, asked_category(run, options));
    wrong.push_back(rows.size());
    ensure(!rows.empty(),
           "{}: decides all {} images of split {}{} right; there is no error to draw",
           run.path_text, run.rows(), options.split,
           options.category.empty() ? "" : " and category " + options.category);
    Random random(derive_seed({static_cast<uint64_t>(options.seed), kErrorStream}));
    shuffle(rows, random);
    rows.resize(std::min(rows.size(), count));
    if (!options.image.empty()) rows = asked_rows(run, options);
    for (const auto& mistake : mistakes.emplace_back(wrong_decisions_of(run, rows))) {
      by_silence = by_silence || std::none_of(mistake.why.parts.begin(), mistake.why.parts.end(),
                                              [](const PartShare& p) { return p.contrast > 0.0; });
      for (const auto& part : mistake.why.parts) {
        low = std::min(low, part.contrast);
        high = std::max(high, part.contrast);
      }
    }
  }
  PartColours colours;
  Plate plate;
  plate.heading = "Wrong decisions, and the regions that were mistaken for parts";
  plate.columns = {"photo", "spoke for the decision", "spoke for the truth",
                   "decision's score minus the truth's"};
  plate.widths = {plate.tile, plate.tile, plate.tile, kBarsWidth};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto& group = plate.groups.emplace_back();
    group.heading = fmt::format("{}: {} of {} images are wrong, {} shown", runs[i].label, wrong[i],
                                runs[i].rows(), mistakes[i].size());
    for (const auto& mistake : mistakes[i])
      group.rows.push_back(mistake_row(runs[i], mistake, low, high, colours));
  }
  plate.caption = fmt::format(
      "Images of split {} that were decided wrongly, {}. A bar is a part's Shapley value for the "
      "score of the decision minus that of the truth; outlines have the colours of their bars and "
      "show where the evidence of the larger ones lies. Filters that stand for no part are grey.{}",
      options.split,
      options.image.empty() ? fmt::format("drawn at random (seed {})", options.seed) : "asked for",
      by_silence
          ? " Where no part spoke for the decision, it is what the network says of a layer that "
            "sees nothing."
          : "");
  return plate;
}

}  // namespace partwise::explaining
