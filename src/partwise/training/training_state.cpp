#include "partwise/training/training_state.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/interpretable.h"
#include "partwise/runs/run_folder.h"
#include "partwise/tensors/torch.h"

namespace partwise::training {
namespace {

constexpr std::string_view kOptimizer = "optimizer.";
constexpr std::string_view kDiagnostics = "diagnostics.";

}  // namespace

models::Checkpoint pack(const networks::Network& network,
                        const Optimizer& optimizer,
                        const models::Position& position) {
  models::Checkpoint checkpoint{position, network.state()};
  for (const auto& [name, tensor] : optimizer.state())
    checkpoint.tensors.emplace(std::string(kOptimizer) + name, tensor);
  for (const auto& [name, layer] : network.interpretable())
    checkpoint.tensors.emplace(std::string(kDiagnostics) + name, layer->diagnostic_sums());
  return checkpoint;
}

models::Position unpack(const models::Checkpoint& checkpoint,
                        networks::Network& network,
                        Optimizer& optimizer) {
  std::map<std::string, Tensor> own;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (name.starts_with(kOptimizer)) own.emplace(name.substr(kOptimizer.size()), tensor);
  }
  network.load_state(checkpoint.tensors);
  optimizer.load_state(own);
  for (const auto& [name, layer] : network.interpretable())
    layer->load_diagnostic_sums(checkpoint.tensors.at(std::string(kDiagnostics) + name));
  return checkpoint.position;
}

void take_from_leader(const tensors::Ranks& ranks,
                      networks::Network& network,
                      Optimizer& optimizer,
                      models::Position& position) {
  if (ranks.alone()) return;
  const auto state = optimizer.state();
  const auto counts =
      torch::tensor({position.epoch, position.step, position.correct}, torch::kInt64);
  const auto sums = torch::tensor({position.loss_sum, position.seconds}, torch::kFloat64);
  for (const auto& [name, tensor] : network.state()) ranks.take_from_leader(tensor);
  for (const auto& [name, tensor] : state) ranks.take_from_leader(tensor);
  for (const auto& [name, layer] : network.interpretable()) {
    const auto seen = layer->diagnostic_sums();
    ranks.take_from_leader(seen);
    layer->load_diagnostic_sums(seen);
  }
  ranks.take_from_leader(counts);
  ranks.take_from_leader(sums);
  optimizer.load_state(state);
  position = {counts[0].item<int64_t>(), counts[1].item<int64_t>(), sums[0].item<double>(),
              counts[2].item<int64_t>(), sums[1].item<double>()};
}

void require_equal_weights(const tensors::Ranks& ranks, const networks::Network& network) {
  if (ranks.alone()) return;
  std::vector<Tensor> sums;
  for (const auto& [name, tensor] : network.parameters()) {
    sums.push_back(tensor.detach().to(torch::kFloat64).sum());
  }
  const auto own = torch::stack(sums);
  const auto spread = ranks.max(own) + ranks.max(-own);
  expects(spread.count_nonzero().item<int64_t>() == 0, "the ranks' weights differ");
}

void require_same_on_all(const tensors::Ranks& ranks, const nlohmann::json& settled) {
  if (ranks.alone()) return;
  const auto leaders = nlohmann::json::parse(ranks.text_of_leader(settled.dump()));
  const auto difference = runs::first_difference(leaders, settled);
  const double own = difference.empty() ? 0.0 : ranks.rank();
  const auto other = ranks.max(torch::full({1}, own)).item<double>();
  ensure(difference.empty(), "rank {} was started otherwise than rank 0: {}", ranks.rank(),
         difference);
  ensure(other == 0.0, "rank {} was started with other options or other data; start all alike",
         other);
}

bool stop_requested(const tensors::Ranks& ranks) {
  const double own = interrupt_requested() ? 1.0 : 0.0;
  return ranks.sum(torch::full({1}, own)).item<double>() > 0.0;
}

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
