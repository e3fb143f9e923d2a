#include "partwise/dissection/activations.h"

#include "partwise/base/progress.h"
#include "partwise/tensors/torch.h"

#include <functional>

namespace partwise::dissection {
namespace {

constexpr int64_t kBatch = 64;

metrics::Maps view(const Tensor& maps) {
  const auto count = static_cast<std::size_t>(maps.numel());
  return {{maps.data_ptr<float>(), count}, maps.size(0), maps.size(1), maps.size(2)};
}

void for_each_batch(const networks::Network& network,
                    const training::Examples& examples,
                    const std::string& device,
                    const std::function<void(int64_t first, const networks::Output&)>& visit) {
  const torch::NoGradGuard no_grad;
  Progress progress("looking at", examples.rows(), "images");
  for (int64_t first = 0; first < examples.rows(); first += kBatch) {
    const auto pixels = examples.pixels.slice(0, first, std::min(first + kBatch, examples.rows()));
    visit(first, network.evaluate(training::normalised(pixels.to(torch::Device(device)))));
    progress.advance(pixels.size(0));
  }
}

// Room for all rows of what a batch gives.
Tensor all_rows(const Tensor& batch, int64_t rows) {
  auto shape = batch.sizes().vec();
  shape.front() = rows;
  return torch::empty(shape, torch::kFloat32);
}

}  // namespace

metrics::Maps LayerActivations::view_maps() const {
  return view(maps);
}
metrics::Maps LayerActivations::view_masked() const {
  return view(masked);
}

Activations collect_activations(const networks::Network& network,
                                const training::Examples& examples,
                                const std::string& device) {
  const auto& architecture = network.architecture();
  Activations all;
  for (const auto& tap : architecture.taps) {
    const auto grid_behind = [&](int64_t layer) -> metrics::UnitGrid {
      const auto& geometry = network.geometry()[static_cast<std::size_t>(layer)];
      return {geometry.offset, geometry.stride, architecture.input_side};
    };
    all.layers.push_back({tap.name,
                          tap.role,
                          grid_behind(tap.relu),
                          grid_behind(tap.mask >= 0 ? tap.mask : tap.relu),
                          {},
                          {}});
  }
  const auto place = [&](Tensor& target, int64_t first, const Tensor& batch) {
    if (!target.defined()) target = all_rows(batch, examples.rows());
    target.slice(0, first, first + batch.size(0)).copy_(batch);
  };
  for_each_batch(network, examples, device, [&](int64_t first, const networks::Output& output) {
    place(all.logits, first, output.logits);
    for (std::size_t t = 0; t < all.layers.size(); ++t) {
      place(all.layers[t].maps, first, output.taps[t].maps);
      if (architecture.taps[t].mask >= 0) place(all.layers[t].masked, first, output.taps[t].masked);
    }
  });
  for (auto& layer : all.layers) {
    if (!layer.masked.defined()) layer.masked = layer.maps;
  }
  return all;
}

std::vector<Tensor> collect_map_sums(const networks::Network& network,
                                     const training::Examples& examples,
                                     const std::string& device) {
  std::vector<Tensor> sums(network.architecture().taps.size());
  for_each_batch(network, examples, device, [&](int64_t first, const networks::Output& output) {
    for (std::size_t t = 0; t < sums.size(); ++t) {
      const auto batch = output.taps[t].maps.flatten(2).sum(2);
      if (!sums[t].defined()) sums[t] = all_rows(batch, examples.rows());
      sums[t].slice(0, first, first + batch.size(0)).copy_(batch);
    }
  });
  return sums;
}

}  // namespace partwise::dissection
