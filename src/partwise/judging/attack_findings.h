#pragma once

#include "partwise/judging/adversarial.h"
#include "partwise/metrics/adversarial_distortion.h"

#include <string>
#include <vector>

namespace partwise::judging {

// The name of --metrics under which a network is attacked.
inline constexpr const char* kAdversarial = "adversarial_distortion";

// The same images as both attacks left them.
struct Attacked {
  std::vector<metrics::AttackedRow> by_lbfgs;
  std::vector<metrics::AttackedRow> by_carlini_wagner;
};

// Attacks options.images of the images, drawn by the bootstrap's seed, whatever is decided on them (the paper's
// "among all images"): two networks with the same images are attacked on the same ones.
//   all_pixels [rows, 3, side, side] uint8
Attacked attack_images(const Scores& scores,
                       const Tensor& all_pixels,
                       const AttackOptions& options,
                       int64_t bootstrap_seed,
                       const std::string& device);

}  // namespace partwise::judging
