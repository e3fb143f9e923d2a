#pragma once

#include "partwise/base/random.h"
#include "partwise/interpretable.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/part_option_fields.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

namespace partwise::parts {

// What a rule does to the maps of one filter when nothing else pulls at them: n = 14, 36 maps of
// the filter's category with four blobs each, 12 of others, heights around `scale`. Each of 200
// steps moves the maps by 3 % of their first norm along the layer's own filter gradient.
struct ToyOutcome {
  double purity_before = 0.0;  // of the 36, at beta = 4: sum x 1(U_mu-hat > 0) / sum x, mean
  double purity = 0.0;
  double loudest_negative = 0.0;   // max of the 12, as a multiple of what it was
  double effective_samples = 0.0;  // share of the 36 that carry the weights, at the start
};

inline constexpr int64_t kToySide = 14;
inline constexpr int64_t kPositives = 36;
inline constexpr int64_t kMaps = 48;
inline constexpr int kSteps = 200;
inline constexpr double kStep = 0.03;

// Four round blobs per map, at random cells, of random height.
inline Tensor blobs(double scale, uint64_t seed) {
  Random random(seed);
  const auto distances = cell_distances(kToySide, TemplateShape::l2).to(torch::kFloat32);
  auto maps = torch::zeros({kMaps, 1, kToySide * kToySide});
  for (int64_t k = 0; k < kMaps; ++k) {
    for (int blob = 0; blob < 4; ++blob) {
      const auto cell = static_cast<int64_t>(random.below(kToySide * kToySide));
      const double height = random.uniform(0.5, 1.0);
      const auto shape = (-distances[cell].square() / 2.0).exp();
      maps[k][0] = torch::maximum(maps[k][0], shape * height);
    }
  }
  // A blob's far tail is no activation; a ReLU would have closed it.
  maps = torch::where(maps > 0.02, maps, torch::zeros_like(maps));
  return maps.view({kMaps, 1, kToySide, kToySide}) * scale;
}

inline double purity_of(const Tensor& maps) {
  const PartOptions standard;  // argmax, beta = 4, whatever the rule was told
  const auto near = masks_at(peak_cells(maps, standard),
                             unit_templates(kToySide, standard).to(torch::kFloat32)) > 0;
  const auto inside = (maps * near).flatten(1).sum(1) / maps.flatten(1).sum(1).clamp_min(1e-12);
  return inside.slice(0, 0, kPositives).mean().item<double>();
}

// ascend: follow the sign as the paper's main text prints it.
inline ToyOutcome move_free_maps(const PartOptions& options,
                                 double scale,
                                 uint64_t seed,
                                 bool ascend = false) {
  auto alone = options;
  alone.strength = 1.0;
  alone.strength_unit = StrengthUnit::absolute;
  alone.loudness = Loudness::free;
  alone.guard = Guard::off;
  Interpretable layer(1, kToySide, 1, alone);
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
