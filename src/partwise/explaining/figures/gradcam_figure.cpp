#include "partwise/explaining/attribution_maps.h"
#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/plate.h"
#include "partwise/explaining/figures/tiles.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::explaining {
namespace {

constexpr int64_t kStandardCamImages = 6;

// Grad-CAM for the true class at a tapped layer, as the layers behind it see it: after the mask.
struct TrueClassMaps {
  Tensor maps;      // [rows, n, n]
  Tensor probable;  // [rows, classes]: of every class
};

TrueClassMaps true_class_maps(const DrawnRun& run, std::size_t tap, std::span<const int64_t> rows) {
  const auto images = network_input(run, rows).requires_grad_();
  const auto output = run.network().evaluate(images);
  const auto scores = models::decision_scores(run.task, output.logits);
  const auto index = torch::tensor(std::vector<int64_t>(rows.begin(), rows.end()), torch::kInt64);
  const auto classes =
      models::decision_classes(run.task, run.examples.category.index_select(0, index))
          .to(scores.device());
  const auto& seen = output.taps[tap].masked;
  const auto gradient =
      torch::autograd::grad({scores.gather(1, classes.unsqueeze(1)).sum()}, {seen}).front();
  return {grad_cam(seen, gradient), scores.detach().softmax(1).to(torch::kCPU)};
}

}  // namespace

Plate draw_gradcam(std::span<const DrawnRun> runs, const FigureOptions& options) {
  const auto& first = runs.front();
  const auto rows = rows_to_draw(first, asked_category(first, options), options,
                                 options.images > 0 ? options.images : kStandardCamImages);
  Plate plate;
  plate.heading = "Grad-CAM of the top layer for the true category";
  auto& group = plate.groups.emplace_back();
  plate.columns = {"photo"};
  bool dark = false;
  for (const int64_t row : rows) {
    auto& line = group.rows.emplace_back();
    line.label = category_of_row(first, row);
    line.more = first.image_name[static_cast<std::size_t>(row)];
    line.tiles.push_back(photo_tile(photo_of(first, row)));
  }
  for (const auto& run : runs) {
    const auto tap = layer_to_draw(run, options, DefaultLayer::last);
    plate.columns.push_back(fmt::format("{}, {}", run.label, run.tap(tap).name));
    std::vector<int64_t> same;
    for (const int64_t row : rows) same.push_back(same_row(first, row, run));
    const auto cams = true_class_maps(run, tap, same);
    const auto names = models::class_names(run.task);
    const auto grid = models::tapped_layers(run.network())[tap].masked_grid;
    for (std::size_t i = 0; i < same.size(); ++i) {
      const auto map = cams.maps[static_cast<int64_t>(i)].contiguous();
      const std::span values(map.data_ptr<float>(), static_cast<std::size_t>(map.numel()));
      const auto chances = cams.probable[static_cast<int64_t>(i)];
      const auto decided = chances.argmax().item<int64_t>();
      const float highest = *std::max_element(values.begin(), values.end());
      dark = dark || !(highest > 0.0F);
      group.rows[i].tiles.push_back(
          heat_tile(photo_of(run, same[i]), values, grid, highest,
                    fmt::format("{} {:.0f} %", names[static_cast<std::size_t>(decided)],
                                100.0 * chances[decided].item<double>())));
    }
  }
  plate.scale = ColourScale{"0", "1", "of the map's strongest cell", true};
  plate.caption = fmt::format(
      "{}. Each map is for the score of the true category, at the maps the fully "
      "connected layers are given, after the mask where there is one; below it stands the decision "
      "with its probability.{}",
      images_drawn(std::ssize(rows), options),
      dark ? " Where nothing glows, nothing at this layer speaks for the category." : "");
  return plate;
}

}  // namespace partwise::explaining
