#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/part_tiles.h"
#include "partwise/explaining/figures/tiles.h"

#include <algorithm>
#include <cmath>

namespace partwise::explaining {
namespace {

constexpr int64_t kStandardDecisions = 5;

struct Decision {
  int64_t row = 0;
  Explanation why;
};

std::vector<Decision> decisions_of(const DrawnRun& run, std::span<const int64_t> rows) {
  const Explainer explainer(run.run, run.checkpoint, run.device);
  ExplainOptions options;
  options.filters = false;
  std::vector<Decision> decisions;
  for (const int64_t row : rows)
    decisions.push_back({row, explainer.explain_crop(run.examples.pixels[row], options)});
  return decisions;
}

}  // namespace

Plate draw_contributions(std::span<const DrawnRun> runs, const FigureOptions& options) {
  const auto& first = runs.front();
  const auto rows = rows_to_draw(first, asked_category(first, options), options,
                                 options.images > 0 ? options.images : kStandardDecisions);
  std::vector<std::vector<Decision>> decisions;
  double low = 0.0;
  double high = 0.0;
  bool sampled = false;
  for (const auto& run : runs) {
    std::vector<int64_t> same;
    for (const int64_t row : rows) same.push_back(same_row(first, row, run));
    for (const auto& decision : decisions.emplace_back(decisions_of(run, same))) {
      sampled = sampled || !decision.why.exact;
      for (const auto& part : decision.why.parts) {
        low = std::min(low, part.share);
        high = std::max(high, part.share);
      }
    }
  }
  PartColours colours;
  Plate plate;
  plate.heading = "What each part adds to a decision";
  plate.columns = {"photo", "parts", "what each adds to the score"};
  plate.widths = {plate.tile, plate.tile, kBarsWidth};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto& group = plate.groups.emplace_back();
    group.heading = fmt::format("{}, layer {}", runs[i].label, decisions[i].front().why.layer);
    for (const auto& [row, why] : decisions[i]) {
      const auto photo = photo_of(runs[i], row);
      auto& line = group.rows.emplace_back();
      line.label = fmt::format("{} {:.0f} %", why.decision, 100.0 * why.probability);
      line.more = fmt::format("shows {}", category_of_row(runs[i], row));
      line.tiles.push_back(photo_tile(photo, runs[i].image_name[static_cast<std::size_t>(row)]));
      const auto bars = largest_bars(why, &PartShare::share, &PartShare::error, colours);
      const double least = kLeastShown * std::abs(why.parts.empty() ? 0.0 : why.parts[0].share);
      line.tiles.push_back(parts_tile(photo, why, colours, [&](const PartShare& part) {
        return std::abs(part.share) >= least;
      }));
      line.tiles.push_back(bars_tile(bars, low, high));
      line.tiles.back().note =
          fmt::format("{}: {} {} the {} of a layer that sees nothing", why.asked,
                      signed_number(std::abs(why.evidence())),
                      why.evidence() < 0.0 ? "below" : "above", signed_number(why.baseline));
    }
  }
  plate.caption = fmt::format(
      "{}. A part is all filters of one name at the top layer; a bar is its Shapley "
      "value for the score of the decision, and the bars of an image sum to the difference below "
      "them.{} Outlines have the colours of their bars and are drawn for the larger ones; filters "
      "that stand for no part are grey.",
      images_drawn(std::ssize(rows), options),
      sampled ? " Thin lines are standard errors where orders were sampled." : "");
  return plate;
}

}  // namespace partwise::explaining
