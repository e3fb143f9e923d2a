#include "partwise/training/agreement.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/tensors/torch.h"

namespace partwise::training {

void take_from_leader(const tensors::Ranks& ranks,
                      networks::Network& network,
                      Optimizer& optimizer,
                      int64_t& epoch) {
  if (ranks.alone()) return;
  const auto state = optimizer.state();
  const auto next = torch::tensor({epoch}, torch::kInt64);
  for (const auto& [name, tensor] : network.state()) ranks.take_from_leader(tensor);
  for (const auto& [name, tensor] : state) ranks.take_from_leader(tensor);
  ranks.take_from_leader(next);
  optimizer.load_state(state);
  epoch = next.item<int64_t>();
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

bool stop_requested(const tensors::Ranks& ranks) {
  const double own = interrupt_requested() ? 1.0 : 0.0;
  return ranks.sum(torch::full({1}, own)).item<double>() > 0.0;
}

}  // namespace partwise::training
