#include "partwise/parts/mask.h"

#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <cmath>

namespace partwise::parts {
namespace {

// Centre of mass along rows (dimension 2) or columns (3), rounded to a cell.
Tensor centre_along(const Tensor& maps, int64_t dimension) {
  const auto n = maps.size(dimension);
  const auto profile = maps.sum(dimension == 2 ? 3 : 2);  // [batch, filter, n]
  const auto position = torch::arange(n, profile.options());
  const auto total = profile.sum(2);
  const auto centre = (profile * position).sum(2) / total;
  const auto middle = static_cast<double>(n - 1) / 2.0;
  return torch::where(total > 0, centre, torch::full_like(centre, middle))
      .round()
      .to(torch::kInt64);
}

// Half types have few digits: of equal maxima the one with the most activation around it stays.
Tensor without_ties(const Tensor& maps) {
  const auto around = torch::avg_pool2d(maps, 3, 1, 1);
  const auto top = maps.amax(at::IntArrayRef({2, 3}), true);
  return torch::where(maps == top, around, torch::full_like(maps, -1.0));
}

}  // namespace

Tensor peak_cells(const Tensor& maps, const PartOptions& options) {
  TORCH_CHECK(maps.dim() == 4 && maps.size(2) == maps.size(3),
              "maps must be [batch, filter, n, n], got ", maps.sizes());
  const torch::NoGradGuard no_grad;
  const bool narrow =
      maps.scalar_type() == torch::kFloat16 || maps.scalar_type() == torch::kBFloat16;
  const auto values = narrow ? maps.detach().to(torch::kFloat32) : maps.detach();
  switch (options.peak) {
    case Peak::argmax:
      return (narrow ? without_ties(values) : values).flatten(2).argmax(2);
    case Peak::centroid:
      return centre_along(values, 2) * maps.size(3) + centre_along(values, 3);
  }
  return {};
}

Tensor masks_at(const Tensor& peaks, const Tensor& templates) {
  const torch::NoGradGuard no_grad;
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(templates.size(-1))));
  return templates_at(peaks, templates)
      .clamp_min(0.0)
      .view({peaks.size(0), peaks.size(1), side, side});
}

}  // namespace partwise::parts
