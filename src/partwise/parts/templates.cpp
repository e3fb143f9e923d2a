#include "partwise/parts/templates.h"

#include "partwise/tensors/torch.h"

namespace partwise::parts {

Tensor unit_templates(int64_t side, const PartOptions& options) {
  validate(options);
  const auto n = static_cast<double>(side);
  const auto cell = torch::arange(side * side, torch::kFloat64);
  const auto row = cell.div(n).floor();
  const auto column = cell - row * n;
  const auto down = (row.unsqueeze(1) - row).abs();
  const auto across = (column.unsqueeze(1) - column).abs();
  const auto distance =
      options.template_shape == "l2" ? (down.square() + across.square()).sqrt() : down + across;
  return (1.0 - options.beta * distance / n).clamp_min(-1.0);
}

}  // namespace partwise::parts
