#include "partwise/training/non_finite.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

namespace partwise::training {
namespace {

bool is_finite(const Tensor& values) {
  return torch::isfinite(values).all().item<bool>();
}

}  // namespace

std::string non_finite_place(networks::Network& network,
                             const Tensor& images,
                             const Tensor& category) {
  const auto forward = network.first_non_finite(images, category);
  if (!forward.empty()) return forward;
  const auto& layers = network.architecture().layers;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    for (const char* what : {".weight", ".bias"}) {
      const auto found = network.parameters().find(layer->name + what);
      if (found == network.parameters().end() || !found->second.grad().defined()) continue;
      if (!is_finite(found->second.grad())) return "the gradient of " + layer->name;
    }
  }
  return "the loss itself";
}

void require_finite_weights(const std::map<std::string, Tensor>& state, const std::string& place) {
  for (const auto& [name, tensor] : state) {
    const auto what = name.substr(name.rfind('.') + 1);
    const bool weight =
        what == "weight" || what == "bias" || what == "running_mean" || what == "running_var";
    ensure(!weight || is_finite(tensor),
           "{}: '{}' holds values that are not finite; start from other weights", place, name);
  }
}

}  // namespace partwise::training
