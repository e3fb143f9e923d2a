#include "partwise/evidence/peak_gradients.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/evidence/receptive_field.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>

namespace partwise::evidence {

PeakGradients::PeakGradients(const networks::Network& network,
                             const Tensor& images,
                             std::size_t tap)
    : images_(images.detach().clone().requires_grad_()), output_(network.evaluate(images_)) {
  const auto flat = output_.taps.at(tap).maps.flatten(2);  // [rows, filters, cells]
  std::tie(peaks_, cells_) = flat.max(2);
}

Tensor PeakGradients::energy(const Tensor& weights) const {
  const auto target = (peaks_ * weights.to(peaks_.options())).sum();
  const auto gradient =
      torch::autograd::grad({target}, {images_}, {}, /*retain_graph=*/true).front();
  return gradient.square().sum(1).to(torch::kCPU, torch::kFloat32).contiguous();
}

Tensor PeakGradients::energy_of(std::span<const int64_t> filter_of_row) const {
  expects(std::ssize(filter_of_row) == peaks_.size(0), "{} filters for {} rows",
          filter_of_row.size(), peaks_.size(0));
  auto weights = torch::zeros({peaks_.size(0), peaks_.size(1)});
  for (std::size_t row = 0; row < filter_of_row.size(); ++row)
    weights[static_cast<int64_t>(row)][filter_of_row[row]] = 1.0;
  return energy(weights);
}

void for_each_energy(const networks::Network& network,
                     std::size_t tap,
                     const models::Examples& examples,
                     std::span<const FilterOnRow> pairs,
                     const std::string& device,
                     const VisitEnergy& visit) {
  constexpr std::size_t kPairsAtOnce = 32;
  Progress progress("looking for the evidence of", std::ssize(pairs), "peaks");
  for (std::size_t first = 0; first < pairs.size(); first += kPairsAtOnce) {
    if (interrupt_requested()) throw Interrupted("interrupted while looking for evidence");
    const auto some = pairs.subspan(first, std::min(kPairsAtOnce, pairs.size() - first));
    std::vector<int64_t> rows;
    std::vector<int64_t> filters;
    for (const auto& pair : some) {
      rows.push_back(pair.row);
      filters.push_back(pair.filter);
    }
    const auto pixels = examples.pixels.index_select(0, torch::tensor(rows, torch::kInt64));
    const PeakGradients peaks(network, models::normalised(pixels.to(torch::Device(device))), tap);
    const auto energy = peaks.energy_of(filters);
    const auto maps = peaks.output().taps[tap].maps.detach().to(torch::kCPU, torch::kFloat32);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      visit(first + i, energy[row], maps[row][filters[i]].contiguous());
    }
    progress.advance(std::ssize(some));
  }
}

std::vector<float> evidence_map(const Tensor& energy) {
  constexpr double kSpread = 0.05;  // of the input side
  const auto plain = energy.contiguous();
  const int64_t side = plain.size(0);
  auto map = smoothed({plain.data_ptr<float>(), static_cast<std::size_t>(side * side)}, side,
                      kSpread * static_cast<double>(side));
  for (auto& value : map) value = std::sqrt(value);
  return map;
}

std::vector<std::optional<Point>> centroids(const Tensor& energies) {
  const auto values = energies.to(torch::kFloat64);
  const auto place = torch::arange(values.size(1), torch::kFloat64);
  const auto moments =
      torch::stack(
          {values.sum({1, 2}), (values.sum(1) * place).sum(1), (values.sum(2) * place).sum(1)}, 1)
          .contiguous();
  const double* moment = moments.data_ptr<double>();
  std::vector<std::optional<Point>> found;
  for (int64_t row = 0; row < values.size(0); ++row, moment += 3) {
    if (moment[0] > 0.0) {
      found.emplace_back(Point{moment[1] / moment[0], moment[2] / moment[0]});
    } else {
      found.emplace_back();
    }
  }
  return found;
}

std::optional<Point> centroid(const Tensor& energy) {
  return centroids(energy.unsqueeze(0)).front();
}

}  // namespace partwise::evidence
