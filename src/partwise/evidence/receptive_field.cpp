#include "partwise/evidence/receptive_field.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/models/activations.h"
#include "partwise/networks/occlusion.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace partwise::evidence {
namespace {

// Between the four nodes around (x, y) of a square grid, 0 outside it.
double bilinear(std::span<const float> grid, int64_t side, double x, double y) {
  const auto last = static_cast<double>(side - 1);
  if (!(x >= 0.0 && y >= 0.0 && x <= last && y <= last)) return 0.0;
  const auto left = std::min(static_cast<int64_t>(x), side - 1);
  const auto top = std::min(static_cast<int64_t>(y), side - 1);
  const int64_t right = std::min(left + 1, side - 1);
  const int64_t bottom = std::min(top + 1, side - 1);
  const auto value = [&](int64_t row, int64_t column) -> double {
    return grid[static_cast<std::size_t>(row * side + column)];
  };
  const double across = x - static_cast<double>(left);
  const double down = y - static_cast<double>(top);
  return (1.0 - down) * ((1.0 - across) * value(top, left) + across * value(top, right)) +
         down * ((1.0 - across) * value(bottom, left) + across * value(bottom, right));
}

// The squares that cover an image, in rows and columns `step` apart, and where their centres lie.
struct Cover {
  int64_t size = 0;
  int64_t step = 0;
  int64_t columns = 0;
  std::vector<networks::Corner> corners;

  double first_centre() const { return static_cast<double>(size - 1) / 2.0; }
};

Cover cover_of(int64_t side, const FieldOptions& options) {
  Cover cover;
  const auto pixels = [&](double share) {
    return std::max<int64_t>(1, std::llround(share * static_cast<double>(side)));
  };
  cover.size = pixels(options.patch);
  cover.step = pixels(options.step);
  cover.columns = (side - cover.size) / cover.step + 1;
  for (int64_t row = 0; row < cover.columns; ++row) {
    for (int64_t column = 0; column < cover.columns; ++column)
      cover.corners.push_back({column * cover.step, row * cover.step});
  }
  return cover;
}

// A field in the making.
struct Sum {
  std::vector<double> strength;
  std::vector<double> weight;  // images that reach so far
  int64_t images = 0;
};

// Adds one image's disturbances, [rows of squares, columns of squares], to the sum.
void add_aligned(
    std::span<const float> disturbed, const Cover& cover, Point centre, int64_t reach, Sum& sum) {
  const int64_t nodes = 2 * reach + 1;
  const auto spacing = static_cast<double>(cover.step);
  const auto last = static_cast<double>(cover.columns - 1);
  for (int64_t row = 0; row < nodes; ++row) {
    const double y = (centre.y - cover.first_centre()) / spacing + static_cast<double>(row - reach);
    if (y < 0.0 || y > last) continue;
    for (int64_t column = 0; column < nodes; ++column) {
      const double x =
          (centre.x - cover.first_centre()) / spacing + static_cast<double>(column - reach);
      if (x < 0.0 || x > last) continue;
      const auto node = static_cast<std::size_t>(row * nodes + column);
      sum.strength[node] += bilinear(disturbed, cover.columns, x, y);
      sum.weight[node] += 1.0;
    }
  }
  ++sum.images;
}

}  // namespace

double ReceptiveField::at(Point offset) const {
  if (strength.empty()) return 0.0;
  const auto middle = static_cast<double>(reach);
  return bilinear(strength, 2 * reach + 1, offset.x / spacing + middle,
                  offset.y / spacing + middle);
}

std::vector<ReceptiveField> receptive_fields(const networks::Network& network,
                                             std::size_t tap,
                                             const models::Examples& examples,
                                             std::span<const std::vector<int64_t>> rows_of_filter,
                                             const FieldOptions& options,
                                             const std::string& device) {
  const int64_t side = network.architecture().input_side;
  const auto grid = models::tapped_layers(network).at(tap).grid;
  const auto cover = cover_of(side, options);
  const int64_t reach = side / cover.step;
  const auto nodes = static_cast<std::size_t>((2 * reach + 1) * (2 * reach + 1));
  std::vector<Sum> sums(rows_of_filter.size(),
                        {std::vector<double>(nodes), std::vector<double>(nodes)});
  std::map<int64_t, std::vector<int64_t>> filters_of_row;
  for (std::size_t filter = 0; filter < rows_of_filter.size(); ++filter) {
    const auto& rows = rows_of_filter[filter];
    for (std::size_t i = 0; i < rows.size() && std::cmp_less(i, options.images); ++i)
      filters_of_row[rows[i]].push_back(static_cast<int64_t>(filter));
  }
  const torch::NoGradGuard no_grad;
  Progress progress("covering patches of", std::ssize(filters_of_row), "images");
  for (const auto& [row, filters] : filters_of_row) {
    if (interrupt_requested()) throw Interrupted("interrupted while looking for receptive fields");
    const auto image = models::normalised(examples.pixels[row].to(torch::Device(device)));
    const auto maps = network.evaluate(image.unsqueeze(0)).taps.at(tap).maps;
    const auto [peaks, cells] = maps.flatten(2).max(2);  // [1, filters]
    const auto covered = networks::occluded_peaks(network, tap, image, cover.corners, cover.size);
    // [filters, squares]: the share of the peak that a square takes away or adds.
    const auto disturbed =
        ((covered - peaks).abs() / peaks.clamp_min(1e-12)).t().to(torch::kCPU).contiguous();
    const auto cell = cells.flatten().to(torch::kCPU);
    const auto peak = peaks.flatten().to(torch::kCPU);
    for (const int64_t filter : filters) {
      if (!(peak[filter].item<float>() > 0.0F)) continue;
      const int64_t at = cell[filter].item<int64_t>();
      const auto* values = disturbed[filter].data_ptr<float>();
      add_aligned({values, cover.corners.size()}, cover,
                  grid.centre(at / maps.size(2), at % maps.size(2)), reach,
                  sums[static_cast<std::size_t>(filter)]);
    }
    progress.advance();
  }
  std::vector<ReceptiveField> fields;
  for (const auto& sum : sums) {
    auto& field = fields.emplace_back();
    field.spacing = static_cast<double>(cover.step);
    field.reach = reach;
    field.images = sum.images;
    for (std::size_t i = 0; i < nodes; ++i) {
      const double mean = sum.weight[i] > 0.0 ? sum.strength[i] / sum.weight[i] : 0.0;
      field.strength.push_back(static_cast<float>(mean));
    }
  }
  return fields;
}

std::vector<float> field_on_image(const ReceptiveField& field, Point centre, int64_t side) {
  std::vector<float> strength;
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      strength.push_back(static_cast<float>(
          field.at({static_cast<double>(x) - centre.x, static_cast<double>(y) - centre.y})));
    }
  }
  return strength;
}

float level_holding(std::span<const float> strength, double share) {
  std::vector<float> sorted(strength.begin(), strength.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double wanted = share * std::accumulate(sorted.begin(), sorted.end(), 0.0);
  double held = 0.0;
  for (const float value : sorted) {
    held += value;
    if (held >= wanted) return value;
  }
  return sorted.empty() ? 0.0F : sorted.back();
}

metrics::PixelSet strongest_pixels(std::span<const float> strength, int64_t side, double share) {
  metrics::PixelSet pixels(side);
  const float level = level_holding(strength, share);
  if (!(level > 0.0F)) return pixels;
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      if (strength[static_cast<std::size_t>(y * side + x)] >= level) pixels.insert(x, y);
    }
  }
  return pixels;
}

std::vector<float> smoothed(std::span<const float> strength, int64_t side, double spread) {
  if (!(spread > 0.0)) return {strength.begin(), strength.end()};
  const auto radius = static_cast<int64_t>(std::ceil(3.0 * spread));
  std::vector<double> weights;
  for (int64_t d = -radius; d <= radius; ++d) {
    const double share = static_cast<double>(d) / spread;
    weights.push_back(std::exp(-0.5 * share * share));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto pass = [&](std::span<const float> from, int64_t step, int64_t line) {
    std::vector<float> to(from.size());
    for (int64_t a = 0; a < side; ++a) {
      for (int64_t b = 0; b < side; ++b) {
        double value = 0.0;
        for (int64_t d = -radius; d <= radius; ++d) {
          if (b + d < 0 || b + d >= side) continue;
          value += weights[static_cast<std::size_t>(d + radius)] *
                   from[static_cast<std::size_t>(a * line + (b + d) * step)];
        }
        to[static_cast<std::size_t>(a * line + b * step)] = static_cast<float>(value / sum);
      }
    }
    return to;
  };
  return pass(pass(strength, 1, side), side, 1);
}

}  // namespace partwise::evidence
