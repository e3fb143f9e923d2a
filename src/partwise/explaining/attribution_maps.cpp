#include "partwise/explaining/attribution_maps.h"

#include "partwise/base/error.h"
#include "partwise/metrics/enlargement.h"
#include "partwise/models/activations.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>

namespace partwise::explaining {
namespace {

Tensor on_cpu(const Tensor& tensor) {
  return tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
}

// [rows, n, n] -> [rows, side, side]
Tensor enlarged(const Tensor& maps, const metrics::UnitGrid& grid) {
  const metrics::Enlargement enlargement(grid, maps.size(1), 1);
  const int64_t side = enlargement.side();
  auto result = torch::empty({maps.size(0), side, side});
  const auto cells = static_cast<std::size_t>(maps.size(1) * maps.size(2));
  for (int64_t row = 0; row < maps.size(0); ++row) {
    enlargement.enlarge({maps[row].data_ptr<float>(), cells},
                        {result[row].data_ptr<float>(), static_cast<std::size_t>(side * side)});
  }
  return result;
}

}  // namespace

Tensor grad_cam(const Tensor& maps, const Tensor& gradient) {
  const auto weights = gradient.mean({2, 3}, /*keepdim=*/true);
  return on_cpu(torch::relu((weights * maps).sum(1)));
}

GradientMaps::GradientMaps(const networks::Network& network, const Tensor& images)
    : network_(network),
      images_(images.detach().clone().requires_grad_()),
      output_(network.evaluate(images_)) {}

GradientMaps::Maps GradientMaps::of(std::span<const int64_t> output_of_row) const {
  expects(std::ssize(output_of_row) == images_.size(0), "{} outputs for {} rows",
          output_of_row.size(), images_.size(0));
  const auto asked =
      torch::tensor(std::vector<int64_t>(output_of_row.begin(), output_of_row.end()), torch::kInt64)
          .to(images_.device())
          .unsqueeze(1);
  const auto& maps = output_.taps.back().masked;
  const auto gradients = torch::autograd::grad({output_.logits.gather(1, asked).sum()},
                                               {images_, maps}, {}, /*retain_graph=*/true);
  return {
      enlarged(grad_cam(maps, gradients[1]), models::tapped_layers(network_).back().masked_grid),
      on_cpu((images_ * gradients[0]).sum(1))};
}

Tensor spread_over_patches(const Tensor& drops,
                           std::span<const networks::Corner> corners,
                           int64_t size,
                           int64_t side) {
  const auto values = drops.to(torch::kCPU, torch::kFloat32);
  auto sum = torch::zeros({values.size(1), side, side});
  auto count = torch::zeros({side, side});
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto& [x, y] = corners[i];
    const auto inside = [&, x = x, y = y](const Tensor& map) {
      return map.slice(-2, y, y + size).slice(-1, x, x + size);
    };
    inside(sum).add_(values[static_cast<int64_t>(i)].view({-1, 1, 1}));
    inside(count).add_(1.0);
  }
  return sum / count.clamp_min(1.0);
}

Tensor occlusion_maps(const networks::Network& network,
                      const Tensor& image,
                      const OcclusionOptions& options) {
  const torch::NoGradGuard no_grad;
  const int64_t side = image.size(2);
  const auto pixels = [&](double share) {
    return std::max<int64_t>(1, std::llround(share * static_cast<double>(side)));
  };
  const int64_t size = pixels(options.patch);
  const auto corners = networks::patch_corners(side, size, pixels(options.step));
  const auto whole = network.evaluate(image.unsqueeze(0)).logits;
  const auto covered = networks::occluded_logits(network, image, corners, size);
  return spread_over_patches(whole - covered, corners, size, side);
}

}  // namespace partwise::explaining
