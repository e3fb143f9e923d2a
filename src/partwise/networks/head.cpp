#include "partwise/networks/head.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

namespace partwise::networks {

Head::Head(const Network& network) : network_(network) {
  const auto& layers = network.architecture().layers;
  while (first_ < std::ssize(layers) &&
         !std::holds_alternative<Linear>(layers[static_cast<std::size_t>(first_)].operation))
    ++first_;
  expects(
      first_ > 0 && first_ < std::ssize(layers) &&
          std::holds_alternative<Flatten>(layers[static_cast<std::size_t>(first_ - 1)].operation),
      "{} has no linear layer behind its maps", network.architecture().net);
}

int64_t Head::width() const {
  const auto& layer = network_.architecture().layers[static_cast<std::size_t>(first_)];
  return std::get<Linear>(layer.operation).out;
}

int64_t Head::work() const {
  const auto& layers = network_.architecture().layers;
  int64_t sum = width();
  for (auto i = static_cast<std::size_t>(first_ + 1); i < layers.size(); ++i) {
    if (const auto* linear = std::get_if<Linear>(&layers[i].operation))
      sum += linear->in * linear->out;
  }
  return sum;
}

Tensor Head::by_filter(const Tensor& features) const {
  const auto& name = network_.architecture().layers[static_cast<std::size_t>(first_)].name;
  const auto filters = features.size(1);
  const auto weight = network_.parameters().at(name + ".weight").detach();
  const auto by_cell = weight.view({weight.size(0), filters, -1});
  return torch::einsum("bfc,wfc->bfw", {features.flatten(2), by_cell});
}

Tensor Head::logits(const Tensor& sums) const {
  const auto& layers = network_.architecture().layers;
  const auto& name = layers[static_cast<std::size_t>(first_)].name;
  auto result = sums.reshape({-1, sums.size(-1)}) + network_.parameters().at(name + ".bias");
  for (auto i = first_ + 1; i < std::ssize(layers); ++i)
    result = network_.evaluate_layer(i, {result});
  auto shape = sums.sizes().vec();
  shape.back() = result.size(-1);
  return result.view(shape);
}

}  // namespace partwise::networks
