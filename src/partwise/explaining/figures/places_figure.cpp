#include "partwise/base/random.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/figures/plate.h"
#include "partwise/explaining/figures/tiles.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace partwise::explaining {
namespace {

constexpr int64_t kStandardPlaceImages = 4;
constexpr int64_t kMeanImages = 12;
constexpr std::size_t kPlaceCategories = 3;
constexpr int64_t kSignDraws = 8;
constexpr uint64_t kSignStream = 0x7369676e;

// Where the evidence of all filters of a layer lies: sum_f r_f^2 |d r_f / d pixel|^2, r_f the peak
// as a share of the filter's strongest one, so that loud filters do not outshout the rest. As
// gradients of sums with random signs have this as the mean of their energy, a few passes serve any
// number of filters.  -> per row [side * side]
std::vector<std::vector<float>> places_on(const DrawnRun& run,
                                          std::size_t tap,
                                          std::span<const int64_t> rows,
                                          int64_t seed) {
  const auto& summaries = run.summaries[tap];
  std::vector<float> strongest;
  for (int64_t filter = 0; filter < summaries.filters; ++filter) {
    const auto peaks = summaries.peaks_of(filter);
    strongest.push_back(std::max(*std::max_element(peaks.begin(), peaks.end()), 0.0F));
  }
  const auto scale = torch::tensor(strongest);
  const auto per_peak = torch::where(scale > 0, scale.reciprocal(), torch::zeros_like(scale));
  const evidence::PeakGradients peaks(run.network(), network_input(run, rows), tap);
  const auto relative = peaks.peaks().detach().to(torch::kCPU) * per_peak;
  Tensor energy;
  for (int64_t draw = 0; draw < kSignDraws; ++draw) {
    Random random(
        derive_seed({static_cast<uint64_t>(seed), kSignStream, static_cast<uint64_t>(draw)}));
    std::vector<float> signs;
    for (int64_t filter = 0; filter < summaries.filters; ++filter)
      signs.push_back(random.chance(0.5) ? 1.0F : -1.0F);
    const auto one = peaks.energy(relative * per_peak * torch::tensor(signs));
    energy = energy.defined() ? energy + one : one;
  }
  std::vector<std::vector<float>> maps;
  for (int64_t i = 0; i < energy.size(0); ++i) maps.push_back(evidence::evidence_map(energy[i]));
  return maps;
}

double strongest_of(std::span<const float> map) {
  return *std::max_element(map.begin(), map.end());
}

std::vector<float> mean_map(const std::vector<std::vector<float>>& maps) {
  std::vector<float> mean(maps.front().size());
  for (const auto& map : maps) {
    const double sum = std::accumulate(map.begin(), map.end(), 0.0);
    if (!(sum > 0.0)) continue;
    for (std::size_t p = 0; p < map.size(); ++p) mean[p] += static_cast<float>(map[p] / sum);
  }
  return mean;
}

images::Image mean_photo(const DrawnRun& run, std::span<const int64_t> rows) {
  auto mean = photo_of(run, rows.front());
  std::vector<double> sums(mean.pixels.size());
  for (const int64_t row : rows) {
    const auto photo = photo_of(run, row);
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += photo.pixels[p];
  }
  for (std::size_t p = 0; p < sums.size(); ++p) {
    mean.pixels[p] = static_cast<uint8_t>(std::lround(sums[p] / static_cast<double>(rows.size())));
  }
  return mean;
}

struct PlaceGroup {
  std::string heading;
  std::vector<int64_t> rows;
};

std::vector<PlaceGroup> groups_to_place(const DrawnRun& run,
                                        const FigureOptions& options,
                                        int64_t images) {
  if (!options.image.empty()) return {{"", asked_rows(run, options)}};
  std::vector<int64_t> categories(run.task.categories.size());
  std::iota(categories.begin(), categories.end(), int64_t{0});
  Random random(derive_seed({static_cast<uint64_t>(options.seed), kSignStream}));
  shuffle(categories, random);
  categories.resize(std::min(categories.size(), kPlaceCategories));
  if (const auto asked = asked_category(run, options)) categories = {*asked};
  std::vector<PlaceGroup> groups;
  for (const int64_t category : categories) {
    groups.push_back({run.task.categories[static_cast<std::size_t>(category)],
                      rows_to_draw(run, category, options, std::max(images, kMeanImages))});
  }
  return groups;
}

PlateRow places_row(const DrawnRun& run,
                    std::span<const int64_t> rows,
                    std::size_t shown,
                    const FigureOptions& options) {
  const auto tap = layer_to_draw(run, options, DefaultLayer::last);
  const auto maps = places_on(run, tap, rows, options.seed);
  const auto side = run.model.design.input.side;
  const metrics::UnitGrid pixels{0.0, 1.0, side};
  PlateRow row;
  row.label = run.label;
  row.more = fmt::format("layer {}", run.tap(tap).name);
  for (std::size_t i = 0; i < shown; ++i) {
    row.tiles.push_back(heat_tile(photo_of(run, rows[i]), maps[i], pixels, strongest_of(maps[i]),
                                  run.image_name[static_cast<std::size_t>(rows[i])]));
  }
  const auto mean = mean_map(maps);
  row.tiles.push_back(heat_tile(mean_photo(run, rows), mean, pixels, strongest_of(mean),
                                counted(std::ssize(rows), "image", "images")));
  return row;
}

}  // namespace

Plate draw_places(std::span<const DrawnRun> runs, const FigureOptions& options) {
  const auto& first = runs.front();
  const int64_t images = options.images > 0 ? options.images : kStandardPlaceImages;
  Plate plate;
  plate.heading = "Where on the object the evidence of a layer's filters lies";
  std::size_t most = 0;
  for (const auto& [heading, rows] : groups_to_place(first, options, images)) {
    const auto shown = std::min(rows.size(), static_cast<std::size_t>(images));
    most = std::max(most, shown);
    auto& group = plate.groups.emplace_back();
    group.heading = heading;
    for (const auto& run : runs) {
      std::vector<int64_t> same;
      for (const int64_t row : rows) same.push_back(same_row(first, row, run));
      group.rows.push_back(places_row(run, same, shown, options));
    }
  }
  plate.columns.resize(most);
  plate.columns.emplace_back("mean over crops");
  plate.scale = ColourScale{"0", "1", "of the picture's strongest place", true};
  plate.caption = fmt::format(
      "Evidence behind the peaks of all filters of the layer, each filter by its peak as a share "
      "of "
      "its strongest one. {}",
      !options.image.empty()
          ? "Images were asked for."
          : fmt::format(
                "{} drawn at random (seed {}) from split {}; the mean is over at most {} of a "
                "category, each resized to the same square.",
                options.category.empty() ? "Categories and images were" : "Images were",
                options.seed, options.split, std::max(images, kMeanImages)));
  return plate;
}

}  // namespace partwise::explaining
