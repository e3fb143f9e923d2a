#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/plate.h"
#include "partwise/explaining/figures/tiles.h"
#include "partwise/networks/mask_steps.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::explaining {
namespace {

constexpr int64_t kStandardMaskImages = 3;
constexpr views::Colour kEvidenceColour = {255, 214, 10};
constexpr views::Colour kFieldColour = {255, 255, 255};

std::vector<float> map_values(const Tensor& map) {
  const auto plain = map.to(torch::kCPU, torch::kFloat32).contiguous();
  return {plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel()};
}

// The square a unit can see at all, as far as it lies in the picture.
void add_theoretical_field(Tile& tile, Point centre, double field, double side) {
  const double half = field / 2.0;
  const auto inside = [&](double at) { return std::clamp(at, 1.0, side - 1.0); };
  const double left = inside(centre.x + 0.5 - half);
  const double right = inside(centre.x + 0.5 + half);
  const double top = inside(centre.y + 0.5 - half);
  const double bottom = inside(centre.y + 0.5 + half);
  const std::vector<std::vector<Point>> square{
      {{left, top}, {right, top}, {right, bottom}, {left, bottom}}};
  add_on_top(tile, [square, side](views::Figure& sheet, const Box& place) {
    sheet.region(moved_onto(square, side, place), std::nullopt,
                 views::Stroke{.colour = kFieldColour, .width = 1.4, .halo = true, .dash = {5, 4}});
  });
}

// Drawn by the seed among the filters that fire; those with a name first.
int64_t filter_to_mask(const DrawnRun& run, std::size_t tap, const FigureOptions& options) {
  const auto category = asked_category(run, options);
  if (options.filter >= 0) return filters_to_draw(run, tap, category, options, 1).front();
  FigureOptions all = options;
  const auto order = filters_to_draw(run, tap, category, all, run.summaries[tap].filters);
  const auto named = std::find_if(order.begin(), order.end(), [&](int64_t filter) {
    return !run.filters[tap][static_cast<std::size_t>(filter)].name.empty();
  });
  return named == order.end() ? order.front() : *named;
}

PlateGroup mask_group(const DrawnRun& run, const FigureOptions& options) {
  const auto tap = masked_layer_to_draw(run, options, DefaultLayer::last);
  const int64_t filter = filter_to_mask(run, tap, options);
  auto rows = asked_rows(run, options);
  std::vector<std::string> labels(rows.size(), "asked for");
  if (rows.empty()) {
    const auto order = rows_by_strength(run, tap, filter);
    const int64_t count = options.images > 0 ? options.images : kStandardMaskImages;
    // The upper half: where a filter is silent there is nothing to mask.
    const auto upper = count == 1 ? order.size() : (order.size() + 1) / 2;
    for (const auto rank : evenly_spaced_ranks(upper, static_cast<std::size_t>(count))) {
      rows.push_back(order[rank]);
      labels.push_back(rank == 0 ? "strongest"
                                 : fmt::format("rank {} of {}", rank + 1, order.size()));
    }
  }
  PlateGroup group;
  group.heading = fmt::format("{}, layer {}, filter {} ({})", run.label, run.tap(tap).name, filter,
                              stands_for(run, tap, filter));
  const auto steps = [&] {
    const torch::NoGradGuard no_grad;
    return networks::mask_steps(run.network(), tap,
                                run.network().evaluate(network_input(run, rows)));
  }();
  const auto evidence = evidence_on(run, tap, filter, rows);
  const auto grid = models::tapped_layers(run.network())[tap].grid;
  const auto& geometry = run.network().geometry()[static_cast<std::size_t>(run.tap(tap).relu)];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto photo = photo_of(run, rows[i]);
    const auto map = map_values(steps.maps[at][filter]);
    const double highest = *std::max_element(map.begin(), map.end());
    auto& row = group.rows.emplace_back();
    row.label = labels[i];
    row.more = category_of_row(run, rows[i]);
    row.tiles.push_back(photo_tile(photo, run.image_name[static_cast<std::size_t>(rows[i])]));
    row.tiles.push_back(cells_tile(map, 0.0, highest, fmt::format("peak {:.2f}", highest)));
    row.tiles.push_back(cells_tile(map_values(steps.masks[at][filter]), 0.0, 1.0));
    row.tiles.push_back(cells_tile(map_values(steps.masked[at][filter]), 0.0, highest));
    auto lit = lit_tile(photo, evidence[i], kEvidenceColour, highest > 0.0 ? "" : "silent");
    if (highest > 0.0) {
      const auto cell = run.summaries[tap].cells_of(filter)[static_cast<std::size_t>(rows[i])];
      add_theoretical_field(
          lit, grid.centre(cell / run.summaries[tap].side, cell % run.summaries[tap].side),
          geometry.receptive_field, static_cast<double>(photo.width));
    }
    row.tiles.push_back(std::move(lit));
  }
  return group;
}

}  // namespace

Plate draw_mask(std::span<const DrawnRun> runs, const FigureOptions& options) {
  Plate plate;
  plate.heading = "From a photo to the place of a part";
  for (const auto& run : runs) plate.groups.push_back(mask_group(run, options));
  plate.columns = {"photo", "map x", "mask", "masked map", "receptive field"};
  plate.scale = ColourScale{"0", "1", "maps: of the map's peak; mask: what it lets through"};
  plate.caption = fmt::format(
      "{}; {}. The yellow outline holds most of the evidence behind the peak: the energy of its "
      "gradient at the pixels. The dashed square is all that the unit could see.",
      options.filter >= 0 ? "The filter was asked for"
                          : fmt::format("The filter was drawn at random (seed {}) among those that "
                                        "fire on every second image of their category and, where "
                                        "there are any, have a name",
                                        options.seed),
      options.image.empty()
          ? fmt::format("images of its category in split {}: the strongest, then evenly spaced in "
                        "the upper half of the ranking",
                        options.split)
          : "so were the images");
  return plate;
}

}  // namespace partwise::explaining
