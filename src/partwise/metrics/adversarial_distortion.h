#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

// One attacked image.
struct AttackedRow {
  double distortion = 0.0;  // sqrt(sum (I' - I)^2 / n); NaN: no attack succeeded
  double random_distortion =
      0.0;                    // the same in a random direction; NaN: the decision never changed
  bool random_flips = false;  // a random step of the attack's own distortion changes it already
};

struct AdversarialDistortion {
  Finding finding;             // control: random_direction
  double success_share = 0.0;  // of the attacked images
  double random_flips = 0.0;   // of the images with a successful attack
};

// Average adversarial distortion (paper, "Robustness to adversarial attacks"): the mean over the
// images that could be attacked. Failures are left out, not counted as far away: read the number
// with success_share. random_direction is the mean of random_distortion over the images that have
// one. The interval draws images anew; it knows nothing of other attacks, which may find less.
AdversarialDistortion adversarial_distortion(std::span<const AttackedRow> rows,
                                             const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
