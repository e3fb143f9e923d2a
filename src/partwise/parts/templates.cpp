#include "partwise/parts/templates.h"

#include "partwise/tensors/torch.h"

#include <cmath>

namespace partwise::parts {

Tensor cell_distances(int64_t side, TemplateShape shape) {
  const auto cell = torch::arange(side * side, torch::kInt64);
  const auto row = cell.div(side, "floor").to(torch::kFloat64);
  const auto column = cell.remainder(side).to(torch::kFloat64);
  const auto down = (row.unsqueeze(1) - row).abs();
  const auto across = (column.unsqueeze(1) - column).abs();
  switch (shape) {
    case TemplateShape::l1:
      return down + across;
    case TemplateShape::l2:
      return (down.square() + across.square()).sqrt();
  }
  return {};
}

Tensor unit_templates(const Tensor& distances, const Tensor& beta) {
  const auto side = std::sqrt(static_cast<double>(distances.size(0)));
  const auto slope = (beta / side).to(distances.options());
  return (1.0 - (slope.dim() == 0 ? slope : slope.view({-1, 1, 1})) * distances).clamp_min(-1.0);
}

Tensor unit_templates(int64_t side, const PartOptions& options) {
  validate(options);
  return unit_templates(cell_distances(side, options.template_shape),
                        torch::scalar_tensor(options.beta, torch::kFloat64));
}

Tensor templates_at(const Tensor& peaks, const Tensor& templates) {
  const auto cells = templates.size(-1);
  auto row = peaks;
  if (templates.dim() == 3) row = peaks + cells * torch::arange(peaks.size(1), peaks.options());
  return templates.reshape({-1, cells})
      .index_select(0, row.flatten())
      .view({peaks.size(0), peaks.size(1), cells});
}

Tensor template_fits(const Tensor& maps, const Tensor& templates) {
  if (templates.dim() == 2) return maps.matmul(templates.t());
  return torch::einsum("bfc,fmc->bfm", {maps, templates});
}

Tensor template_mixture(const Tensor& weights, const Tensor& templates) {
  if (templates.dim() == 2) return weights.matmul(templates);
  return torch::einsum("bfm,fmc->bfc", {weights, templates});
}

}  // namespace partwise::parts
