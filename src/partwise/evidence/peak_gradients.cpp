#include "partwise/evidence/peak_gradients.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/evidence/receptive_field.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace partwise::evidence {

PeakGradients::PeakGradients(const networks::Network& network,
                             const Tensor& images,
                             std::size_t tap)
    : network_(network),
      images_(images.detach().clone().requires_grad_()),
      relu_(static_cast<std::size_t>(network.architecture().taps.at(tap).relu)),
      results_(network.inputs().size()) {
  for (std::size_t i = 0; i <= relu_; ++i) run_layer(i);
  maps_ = results_[relu_];
  std::tie(peaks_, cells_) = maps_.flatten(2).max(2);  // [rows, filters]
}

void PeakGradients::run_layer(std::size_t layer) const {
  std::vector<Tensor> given;
  for (const int64_t from : network_.inputs()[layer])
    given.push_back(from < 0 ? images_ : results_[static_cast<std::size_t>(from)]);
  results_[layer] = network_.evaluate_layer(static_cast<int64_t>(layer), given);
}

const networks::Output& PeakGradients::output() const {
  if (output_) return *output_;
  for (std::size_t i = relu_ + 1; i < results_.size(); ++i) run_layer(i);
  auto& output = output_.emplace();
  output.logits = results_.back();
  const auto& architecture = network_.architecture();
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (std::holds_alternative<networks::Flatten>(architecture.layers[i].operation))
      output.features = results_[static_cast<std::size_t>(network_.inputs()[i].front())];
  }
  for (const auto& tap : architecture.taps) {
    const auto& maps = results_[static_cast<std::size_t>(tap.relu)];
    output.taps.push_back({maps, tap.interpretable < 0
                                     ? maps
                                     : results_[static_cast<std::size_t>(tap.interpretable)]});
  }
  return output;
}

Tensor PeakGradients::energy_from(const Tensor& value, const Tensor& slope) const {
  const auto gradient =
      torch::autograd::grad({value}, {images_}, {slope}, /*retain_graph=*/true).front();
  return gradient.square().sum(1).to(torch::kCPU, torch::kFloat32).contiguous();
}

Tensor PeakGradients::energy(const Tensor& weights) const {
  const auto target = (peaks_ * weights.to(peaks_.options())).sum();
  return energy_from(target, torch::ones_like(target));
}

Tensor PeakGradients::energy_of(std::span<const int64_t> filter_of_row) const {
  expects(std::ssize(filter_of_row) == peaks_.size(0), "{} filters for {} rows",
          filter_of_row.size(), peaks_.size(0));
  const auto& layers = network_.architecture().layers;
  const int64_t below = network_.inputs()[relu_].front();
  const auto* convolution =
      below < 0
          ? nullptr
          : std::get_if<networks::Convolution>(&layers[static_cast<std::size_t>(below)].operation);
  if (!std::holds_alternative<networks::Relu>(layers[relu_].operation) || convolution == nullptr ||
      convolution->groups != 1 || network_.inputs()[static_cast<std::size_t>(below)].front() < 0) {
    auto weights = torch::zeros({peaks_.size(0), peaks_.size(1)});
    for (std::size_t row = 0; row < filter_of_row.size(); ++row) {
      if (filter_of_row[row] >= 0) weights[static_cast<int64_t>(row)][filter_of_row[row]] = 1.0;
    }
    return energy(weights);
  }
  // One cell of a convolution is a filter laid over its input: that is the slope there, and the
  // rest of the maps need no way back.
  const auto& given = results_[static_cast<std::size_t>(
      network_.inputs()[static_cast<std::size_t>(below)].front())];
  const auto weight =
      network_.parameters().at(layers[static_cast<std::size_t>(below)].name + ".weight").detach();
  const auto peaks = peaks_.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  const auto cells = cells_.to(torch::kCPU).contiguous();
  auto slope = torch::zeros_like(given);
  for (std::size_t i = 0; i < filter_of_row.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const int64_t filter = filter_of_row[i];
    const int64_t place = row * peaks.size(1) + filter;
    if (filter < 0 || !(peaks.data_ptr<double>()[place] > 0.0)) continue;
    const int64_t cell = cells.data_ptr<int64_t>()[place];
    // Of the kernel, along one side: where it begins in the input, and what of it lies inside.
    const auto inside = [&](int64_t at) {
      const int64_t first = at * convolution->stride - convolution->padding;
      const int64_t low = std::max<int64_t>(first, 0);
      return std::array{first, low, std::min(first + convolution->kernel, given.size(2))};
    };
    const auto [top, y, bottom] = inside(cell / maps_.size(3));
    const auto [left, x, right] = inside(cell % maps_.size(3));
    slope[row]
        .slice(1, y, bottom)
        .slice(2, x, right)
        .copy_(weight[filter].slice(1, y - top, bottom - top).slice(2, x - left, right - left));
  }
  return energy_from(given, slope);
}

void for_each_energy(const networks::Network& network,
                     std::size_t tap,
                     const models::Examples& examples,
                     std::span<const FilterOnRow> pairs,
                     const std::string& device,
                     const VisitEnergy& visit) {
  constexpr std::size_t kRowsAtOnce = 16;
  std::map<int64_t, std::vector<std::size_t>> by_row;
  for (std::size_t i = 0; i < pairs.size(); ++i) by_row[pairs[i].row].push_back(i);
  // Rows with about as many pairs go together, so that few wait for the others' last ones.
  std::vector<std::pair<int64_t, std::vector<std::size_t>>> rows(by_row.begin(), by_row.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  Progress progress("looking for the evidence of", std::ssize(pairs), "peaks");
  for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
    const auto some = std::span(rows).subspan(first, std::min(kRowsAtOnce, rows.size() - first));
    std::vector<int64_t> shown;
    for (const auto& [row, wanted] : some) shown.push_back(row);
    const auto pixels = examples.pixels.index_select(0, torch::tensor(shown, torch::kInt64));
    const PeakGradients peaks(network, models::normalised(pixels.to(torch::Device(device))), tap);
    const auto maps = peaks.maps().detach().to(torch::kCPU, torch::kFloat32);
    for (std::size_t turn = 0; turn < some.front().second.size(); ++turn) {
      if (interrupt_requested()) throw Interrupted("interrupted while looking for evidence");
      std::vector<int64_t> filters;
      for (const auto& [row, wanted] : some)
        filters.push_back(turn < wanted.size() ? pairs[wanted[turn]].filter : -1);
      const auto energy = peaks.energy_of(filters);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (filters[i] < 0) continue;
        const auto row = static_cast<int64_t>(i);
        visit(some[i].second[turn], energy[row], maps[row][filters[i]].contiguous());
        progress.advance();
      }
    }
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
