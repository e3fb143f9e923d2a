#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/plate.h"
#include "partwise/explaining/figures/tiles.h"
#include "partwise/interpretable.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"
#include "partwise/views/contour.h"

#include <cmath>

namespace partwise::explaining {
namespace {

// One masked layer's templates, in units of tau.
struct LayerTemplates {
  int64_t side = 0;
  double beta = 0.0;
  double tau = 0.0;
  Tensor units;  // [cell of mu, cells]
};

LayerTemplates templates_of(const DrawnRun& run, std::size_t tap) {
  const auto& layers = run.network().architecture().layers;
  const auto& name = layers[static_cast<std::size_t>(run.tap(tap).interpretable)].name;
  const auto& layer = *run.network().interpretable().at(name);
  LayerTemplates found;
  found.side = layer.side();
  found.beta = layer.filter_beta().to(torch::kFloat64).median().item<double>();
  found.tau =
      1.0 / (parts::temperature_of(layer.options()) * static_cast<double>(found.side * found.side));
  const auto distances = parts::cell_distances(found.side, layer.options().template_shape);
  found.units = parts::unit_templates(distances, torch::tensor(found.beta, torch::kFloat64))
                    .to(torch::kFloat32)
                    .contiguous();
  return found;
}

std::vector<float> template_at(const LayerTemplates& of, int64_t mu) {
  const auto row = of.units[mu].contiguous();
  return {row.data_ptr<float>(), row.data_ptr<float>() + row.numel()};
}

// A line around the cells the mask keeps: T > 0.
Tile template_tile(const std::vector<float>& values, int64_t side) {
  auto tile = cells_tile(values, -1.0, 1.0);
  const auto outlines = views::contours(values, side, side, 1e-6);
  add_on_top(tile, [outlines, side](views::Figure& sheet, const Box& place) {
    sheet.region(moved_onto(outlines, static_cast<double>(side), place), std::nullopt,
                 views::Stroke{.colour = {255, 255, 255}, .width = 1.2, .dash = {4.0, 3.0}});
  });
  return tile;
}

PlateGroup templates_group(const DrawnRun& run, const LayerTemplates& of, std::size_t tap) {
  PlateGroup group;
  group.heading = fmt::format("{}, layer {}: n = {}, τ = {:.2g}, β = {:.3g}", run.label,
                              run.tap(tap).name, of.side, of.tau, of.beta);
  const std::vector<int64_t> steps{0, (of.side - 1) / 2, of.side - 1};
  for (const int64_t row : steps) {
    auto& line = group.rows.emplace_back();
    line.label = row == 0 ? "first row" : row == steps.back() ? "last row" : "middle row";
    for (const int64_t column : steps) {
      line.tiles.push_back(template_tile(template_at(of, row * of.side + column), of.side));
      line.tiles.back().note = fmt::format("μ = ({}, {})", row + 1, column + 1);
    }
  }
  const std::vector<float> negative(static_cast<std::size_t>(of.side * of.side), -1.0F);
  group.rows.front().tiles.push_back(cells_tile(negative, -1.0, 1.0, "−τ everywhere"));
  return group;
}

}  // namespace

Plate draw_templates(std::span<const DrawnRun> runs, const FigureOptions& options) {
  Plate plate;
  plate.heading = "Templates: what a filter's map is taught to look like";
  for (const auto& run : runs) {
    const auto tap = masked_layer_to_draw(run, options, DefaultLayer::last);
    const auto of = templates_of(run, tap);
    plate.groups.push_back(templates_group(run, of, tap));
  }
  plate.columns = {"first column", "middle column", "last column", "negative template"};
  plate.scale = ColourScale{"−τ", "τ", "value of a cell"};
  plate.caption =
      "Nine of the n × n templates of each layer, for a part location μ (row, column) in the "
      "corners, at the edges and in the middle, and the one template for images without the part. "
      "The mask keeps what lies inside the dashed line. A layer that learns β for each filter is "
      "drawn with the middle one.";
  return plate;
}

}  // namespace partwise::explaining
