#include "partwise/networks/together.h"

#include <algorithm>

namespace partwise::networks {
namespace {

std::size_t at(int64_t layer) {
  return static_cast<std::size_t>(layer);
}

template <typename Kind>
bool is(const std::vector<Layer>& layers, int64_t layer) {
  return layer >= 0 && std::holds_alternative<Kind>(layers[at(layer)].operation);
}

// The ReLUs whose work a layer could do: its own, those it puts side by side, or those in front of
// it.
struct Front {
  std::vector<int64_t> before;  // the layers the ReLUs take their inputs from; empty: there is none
  std::vector<int64_t> others;  // the ReLUs and what puts them side by side, but the layer itself
};

Front front_of(const std::vector<Layer>& layers,
               const std::vector<std::vector<int64_t>>& inputs,
               int64_t layer) {
  Front front;
  std::vector<int64_t> relus{layer};
  if (!is<Relu>(layers, layer)) {
    relus = inputs[at(layer)];
    front.others = relus;
    if (!is<Concatenate>(layers, layer) && is<Concatenate>(layers, relus.front())) {
      relus = inputs[at(relus.front())];
      front.others.insert(front.others.end(), relus.begin(), relus.end());
    }
  }
  for (const int64_t relu : relus) {
    const int64_t before = is<Relu>(layers, relu) ? inputs[at(relu)].front() : -1;
    if (before < 0) return {};
    front.before.push_back(before);
  }
  return front;
}

}  // namespace

std::vector<int64_t> before_relus(const std::vector<Layer>& layers, std::size_t layer) {
  return front_of(layers, layer_inputs(layers), static_cast<int64_t>(layer)).before;
}

std::vector<Together> find_together(const std::vector<Layer>& layers) {
  const auto inputs = layer_inputs(layers);
  std::vector<int> users(layers.size(), 0);
  for (const auto& from_all : inputs) {
    for (const int64_t from : from_all)
      if (from >= 0) ++users[at(from)];
  }
  std::vector<Together> together(layers.size());
  const auto is_free = [&](int64_t layer) {
    return users[at(layer)] == 1 && !together[at(layer)].left_out;
  };
  const auto has_free_bias = [&](int64_t layer) {
    const auto* convolution = std::get_if<Convolution>(&layers[at(layer)].operation);
    return convolution && convolution->bias && convolution->out % 2 == 0 && users[at(layer)] == 1;
  };
  const auto open = [&](int64_t layer, bool only_with_biases) {
    const auto [before, others] = front_of(layers, inputs, layer);
    if (before.empty() || together[at(layer)].left_out) return;
    if (!std::all_of(others.begin(), others.end(), is_free)) return;
    const bool with_biases = std::all_of(before.begin(), before.end(), has_free_bias);
    if (only_with_biases && !with_biases) return;
    for (const int64_t other : others) together[at(other)].left_out = true;
    for (const int64_t from : before) together[at(from)].without_bias = with_biases;
    together[at(layer)].opens = before;
    together[at(layer)].with_biases = with_biases;
  };
  const auto open_all = [&]<typename Kind>(const Kind& /*kind*/, bool only_with_biases) {
    for (int64_t layer = 0; layer < std::ssize(layers); ++layer)
      if (is<Kind>(layers, layer)) open(layer, only_with_biases);
  };
  // The last one behind a ReLU does its work: so who comes last is asked first.
  open_all(Interpretable{}, false);
  open_all(MaxPool{}, true);
  open_all(Concatenate{}, true);
  open_all(Relu{}, true);
  return together;
}

}  // namespace partwise::networks
