#include "partwise/base/random.h"
#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/plate.h"
#include "partwise/explaining/figures/tiles.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::explaining {
namespace {

constexpr int64_t kStandardActivationFilters = 3;
constexpr int64_t kStandardActivationImages = 5;
constexpr uint64_t kCategoryStream = 0x63617465;

// The one asked for, or one drawn by the seed among those that all runs have filters for.
int64_t common_category(std::span<const DrawnRun> runs,
                        std::span<const std::size_t> taps,
                        const FigureOptions& options) {
  if (const auto asked = asked_category(runs.front(), options)) return *asked;
  std::vector<int64_t> common;
  for (int64_t category = 0; category < runs.front().task.outputs(); ++category) {
    bool all = true;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      all = all && category < runs[i].task.outputs() &&
            !filters_in_drawn_order(runs[i], taps[i], category, options.seed).empty();
    }
    if (all) common.push_back(category);
  }
  ensure(!common.empty(), "{}: no category has filters that fire in all of these runs",
         runs.front().path_text);
  Random random(derive_seed({static_cast<uint64_t>(options.seed), kCategoryStream}));
  return common[static_cast<std::size_t>(random.below(std::ssize(common)))];
}

PlateGroup activations_group(const DrawnRun& run,
                             std::size_t tap,
                             int64_t category,
                             std::span<const int64_t> rows,
                             const FigureOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto grid = models::tapped_layers(run.network())[tap].grid;
  const auto maps = run.network()
                        .evaluate(network_input(run, rows))
                        .taps[tap]
                        .maps.to(torch::kCPU, torch::kFloat32)
                        .contiguous();
  const auto view = models::view_of(maps);
  const auto filters =
      filters_to_draw(run, tap, category, options,
                      options.filters > 0 ? options.filters : kStandardActivationFilters);
  PlateGroup group;
  const auto all = filters_in_drawn_order(run, tap, category, options.seed);
  group.heading =
      fmt::format("{}, layer {}{}: {} of {} filters", run.label, run.tap(tap).name,
                  run.tap(tap).interpretable < 0 ? " (no mask)" : "", filters.size(), all.size());
  for (const int64_t filter : filters) {
    std::vector<float> peaks;
    for (int64_t i = 0; i < view.rows; ++i) {
      const auto map = view.map(i, filter);
      peaks.push_back(*std::max_element(map.begin(), map.end()));
    }
    const double highest = *std::max_element(peaks.begin(), peaks.end());
    auto& row = group.rows.emplace_back();
    row.label = fmt::format("filter {}", filter);
    row.more = stands_for(run, tap, filter);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      row.tiles.push_back(
          heat_tile(photo_of(run, rows[i]), view.map(static_cast<int64_t>(i), filter), grid,
                    highest, peaks[i] > 0.0F ? fmt::format("peak {:.2f}", peaks[i]) : "silent"));
    }
  }
  return group;
}

}  // namespace

Plate draw_activations(std::span<const DrawnRun> runs, const FigureOptions& options) {
  std::vector<std::size_t> taps;
  for (const auto& run : runs) taps.push_back(layer_to_draw(run, options, DefaultLayer::first));
  const auto& first = runs.front();
  const int64_t category = common_category(runs, taps, options);
  const auto rows = rows_to_draw(first, category, options,
                                 options.images > 0 ? options.images : kStandardActivationImages);
  const auto& name = first.task.categories[static_cast<std::size_t>(category)];
  Plate plate;
  for (const int64_t row : rows)
    plate.columns.push_back(first.image_name[static_cast<std::size_t>(row)]);
  plate.heading = fmt::format("Activations before the mask: filters of {}", name);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<int64_t> same;
    for (const int64_t row : rows) same.push_back(same_row(first, row, runs[i]));
    const auto own = static_cast<int64_t>(index_of_name("category", name, runs[i].task.categories));
    plate.groups.push_back(activations_group(runs[i], taps[i], own, same, options));
  }
  plate.scale = ColourScale{"0", "1", "of the filter's strongest peak on these images", true};
  plate.caption = fmt::format(
      "{} {}; the same {} in all rows.",
      options.filter >= 0
          ? fmt::format("Filter {} was asked for.", options.filter)
          : fmt::format(
                "Filters were drawn at random (seed {}) among those that stand for {} and fire on "
                "every second image of it.",
                options.seed, name),
      options.image.empty()
          ? fmt::format("Images were drawn at random from those of {} in split {}", name,
                        options.split)
          : "Images were asked for",
      counted(std::ssize(rows), "image", "images"));
  return plate;
}

}  // namespace partwise::explaining
