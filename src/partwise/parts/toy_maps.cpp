#include "partwise/parts/toy_maps.h"

#include "partwise/base/random.h"
#include "partwise/interpretable.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

namespace partwise::parts {
namespace {

constexpr int64_t kSide = 14;
constexpr int64_t kPositives = 36;
constexpr int64_t kMaps = 48;
constexpr int kSteps = 200;
constexpr double kStep = 0.03;

// Four round blobs a map, at random cells, of random height.
Tensor blobs(double scale, uint64_t seed) {
  Random random(seed);
  const auto distances = cell_distances(kSide, TemplateShape::l2).to(torch::kFloat32);
  auto maps = torch::zeros({kMaps, 1, kSide * kSide});
  for (int64_t k = 0; k < kMaps; ++k) {
    for (int blob = 0; blob < 4; ++blob) {
      const auto cell = static_cast<int64_t>(random.below(kSide * kSide));
      const double height = random.uniform(0.5, 1.0);
      const auto shape = (-distances[cell].square() / 2.0).exp();
      maps[k][0] = torch::maximum(maps[k][0], shape * height);
    }
  }
  // A blob's far tail is no activation; a ReLU would have closed it.
  maps = torch::where(maps > 0.02, maps, torch::zeros_like(maps));
  return maps.view({kMaps, 1, kSide, kSide}) * scale;
}

double purity_of(const Tensor& maps) {
  const PartOptions standard;  // argmax, beta = 4, whatever the rule was told
  const auto near =
      masks_at(peak_cells(maps, standard), unit_templates(kSide, standard).to(torch::kFloat32)) > 0;
  const auto inside = (maps * near).flatten(1).sum(1) / maps.flatten(1).sum(1).clamp_min(1e-12);
  return inside.slice(0, 0, kPositives).mean().item<double>();
}

}  // namespace

ToyOutcome move_free_maps(const PartOptions& options, double scale, uint64_t seed, bool ascend) {
  auto alone = options;
  alone.strength = 1.0;
  alone.strength_unit = StrengthUnit::absolute;
  alone.guard = Guard::off;
  Interpretable layer(1, kSide, 1, alone);
  auto category = torch::zeros({kMaps}, torch::kInt64);
  category.slice(0, kPositives).fill_(-1);

  auto maps = blobs(scale, seed);
  const auto loudest = [&] { return maps.slice(0, kPositives).max().item<double>(); };
  ToyOutcome outcome;
  outcome.purity_before = purity_of(maps);
  const double loudest_before = loudest();
  const double stride = kStep * maps.norm().item<double>();
  for (int step = 0; step < kSteps; ++step) {
    auto leaf = maps.clone().requires_grad_();
    // A task that asks for nothing: what arrives at the maps is the filter gradient alone.
    (layer->mask_and_learn(leaf * 1.0, category) * 0.0).sum().backward();
    const auto gradient = leaf.grad();
    const double size = gradient.norm().item<double>();
    if (step == 0) outcome.effective_samples = layer->take_diagnostics().effective_samples;
    if (size == 0.0) break;
    maps = (maps - (ascend ? -stride : stride) / size * gradient).clamp_min(0.0);
  }
  outcome.purity = purity_of(maps);
  outcome.loudest_negative = loudest() / loudest_before;
  return outcome;
}

}  // namespace partwise::parts
