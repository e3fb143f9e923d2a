#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/plate.h"
#include "partwise/explaining/figures/tiles.h"
#include "partwise/views/contour.h"

namespace partwise::explaining {
namespace {

constexpr int64_t kStandardFilters = 4;
constexpr int64_t kStandardRanks = 6;

PlateGroup filters_group(const DrawnRun& run, const FigureOptions& options, int64_t images) {
  const auto tap = layer_to_draw(run, options, DefaultLayer::last);
  const auto filters = filters_to_draw(run, tap, asked_category(run, options), options,
                                       options.filters > 0 ? options.filters : kStandardFilters);
  PlateGroup group;
  const auto all = filters_in_drawn_order(run, tap, asked_category(run, options), options.seed);
  group.heading = fmt::format("{}, layer {}: {} of {} filters", run.label, run.tap(tap).name,
                              filters.size(), all.size());
  for (std::size_t k = 0; k < filters.size(); ++k) {
    const int64_t filter = filters[k];
    const auto order = rows_by_strength(run, tap, filter);
    const auto ranks = evenly_spaced_ranks(order.size(), static_cast<std::size_t>(images));
    std::vector<int64_t> rows;
    for (const auto rank : ranks) rows.push_back(order[rank]);
    const auto evidence = evidence_on(run, tap, filter, rows);
    auto& row = group.rows.emplace_back();
    row.label = fmt::format("filter {}", filter);
    row.more = stands_for(run, tap, filter);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool fires =
          run.summaries[tap].peaks_of(filter)[static_cast<std::size_t>(rows[i])] > 0.0F;
      row.tiles.push_back(lit_tile(
          photo_of(run, rows[i]), evidence[i], views::part_colour(static_cast<int64_t>(k)),
          fmt::format("rank {} of {}{}", ranks[i] + 1, order.size(), fires ? "" : ", silent")));
    }
  }
  return group;
}

}  // namespace

Plate draw_filters(std::span<const DrawnRun> runs, const FigureOptions& options) {
  const int64_t images = options.images > 0 ? options.images : kStandardRanks;
  Plate plate;
  plate.heading = "What filters of the top layer see";
  for (const auto& run : runs) plate.groups.push_back(filters_group(run, options, images));
  plate.columns = {"strongest"};
  for (int64_t i = 1; i + 1 < images; ++i) plate.columns.emplace_back("");
  if (images > 1) plate.columns.emplace_back("weakest");
  plate.caption = fmt::format(
      "{} All images of the filter's category in split {} are ranked by its peak; {} of them are "
      "shown, the strongest, the weakest and evenly spaced ranks between. The outline holds most "
      "of the evidence behind the peak; the rest of the photo is dimmed.",
      options.filter >= 0
          ? fmt::format("Filter {} was asked for.", options.filter)
          : fmt::format("Filters were drawn at random (seed {}) among those that fire on every "
                        "second image of their category{}; none was picked by eye.",
                        options.seed, options.category.empty() ? "" : ", " + options.category),
      options.split, images);
  return plate;
}

}  // namespace partwise::explaining
