#pragma once

#include "partwise/judging/adversarial.h"
#include "partwise/metrics/adversarial_distortion.h"
#include "partwise/models/examples.h"

#include <string>

namespace partwise::judging {

// The name of --metrics under which a network is attacked.
inline constexpr const char* kAdversarial = "adversarial_distortion";

// A network's decisions as both attacks see them.
struct AttackFindings {
  metrics::AdversarialDistortion lbfgs;
  metrics::AdversarialDistortion carlini_wagner;
  int64_t images = 0;
};

// Attacks options.images of the examples, drawn by the bootstrap's seed, whatever is decided on
// them (the paper's "among all images"): two networks with the same examples are attacked on the
// same images.
AttackFindings attack_network(const Scores& scores,
                              const models::Examples& examples,
                              const AttackOptions& options,
                              const metrics::BootstrapOptions& bootstrap,
                              const std::string& device);

}  // namespace partwise::judging
