#pragma once

#include "partwise/judging/measure_options.h"
#include "partwise/metrics/adversarial_distortion.h"
#include "partwise/tensors/tensor.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace partwise::judging {

// Scores whose argmax is the decision, [rows, classes], of images [rows, ...] in [0, 1];
// differentiable.
using Scores = std::function<Tensor(const Tensor& images)>;

// For every image the nearest one found in [0, 1]^n that is decided otherwise: it was put to the
// network again and its decision differs. One without is its own, at a distortion of NaN.
//   distortion [rows] float64, on the CPU: sqrt(sum (I' - I)^2 / n), n the values of an image
struct Attack {
  Tensor images;
  Tensor distortion;
};

// Szegedy et al. 2013, box-constrained L-BFGS: min |r|^2 + c loss(x + r, l), x + r in the box, loss
// the cross entropy of the scores and l the runner-up of the decision on x; the smallest c at which
// the minimiser is decided otherwise is searched by factors of 10, then by halves of what is left
// (in the logarithm), from c = 1. Departures: |r|^2 for |r|, which has no gradient at 0 (the same
// minimisers at other c), and at the end the way back to x is halved while the decision stays
// flipped, so that the image lies on the boundary.
Attack attack_by_lbfgs(const Scores& scores, const Tensor& images, const AttackOptions& options);

// Carlini and Wagner 2017, L2, untargeted, confidence 0: x' = (tanh w + 1) / 2, min |x' - x|^2 + c
// max(Z_decision - max of the others, 0) by Adam with 2 * options.steps steps, the same search for
// c and the same way back. Departure: Adam's rate falls from 0.01 to 0, as many changes are smaller
// than such a step.
Attack attack_by_carlini_wagner(const Scores& scores,
                                const Tensor& images,
                                const AttackOptions& options);

// The control: how far one must go in a direction drawn at random (normal, cut to the box).
struct RandomWalk {
  Tensor distortion;  // [rows] float64, where the decision first changes; NaN: it never did
  Tensor flips;       // [rows] bool: changed already at the attack's own distortion
};
// From an attack's distortion the length doubles until the decision changes (eleven times at the
// most), then the last stretch is halved. Drawn on the CPU, so that every device sees the same.
RandomWalk walk_at_random(const Scores& scores,
                          const Tensor& images,
                          const Tensor& distortion,
                          uint64_t seed);

// The name of --metrics under which a network is attacked.
inline constexpr const char* kAdversarial = "adversarial_distortion";

// The same images as both attacks left them.
struct Attacked {
  std::vector<metrics::AttackedRow> by_lbfgs;
  std::vector<metrics::AttackedRow> by_carlini_wagner;
};

// Attacks options.images of the images, drawn by the bootstrap's seed, whatever is decided on them
// (the paper's "among all images"): two networks with the same images are attacked on the same
// ones.
//   all_pixels [rows, 3, side, side] uint8
Attacked attack_images(const Scores& scores,
                       const Tensor& all_pixels,
                       const AttackOptions& options,
                       int64_t bootstrap_seed,
                       const std::string& device);

}  // namespace partwise::judging
