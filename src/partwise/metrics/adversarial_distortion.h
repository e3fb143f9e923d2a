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

// Average adversarial distortion (paper, "Robustness to adversarial attacks"): the mean over the
// images that could be attacked. Failures are left out, not counted as far away: read the number
// with its facts: images, success_share (of those) and random_flips (of the images with a
// successful attack). Control: random_direction, the mean of random_distortion over the images that
// have one. The interval draws images anew; it knows nothing of other attacks, which may find less.
Finding adversarial_distortion(std::span<const AttackedRow> rows,
                               const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
