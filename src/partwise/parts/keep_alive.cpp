#include "partwise/parts/keep_alive.h"

#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

namespace partwise::parts {

Tensor lift_need(const Tensor& mean_peak, const Tensor& loudness) {
  return (1.0 - 2.0 * mean_peak / loudness).clamp(0.0, 1.0);
}

Lift lift(const Tensor& maps,
          const Tensor& cells,
          const Tensor& positive,
          const Tensor& templates,
          const Tensor& mean_peak,
          const Tensor& loudness) {
  const torch::NoGradGuard no_grad;
  const auto open = (maps > 0).scatter(2, cells.unsqueeze(2), true);
  const auto bump = templates_at(cells, templates).clamp_min(0.0);
  return {lift_need(mean_peak, loudness), -bump * open * positive.unsqueeze(2)};
}

}  // namespace partwise::parts
