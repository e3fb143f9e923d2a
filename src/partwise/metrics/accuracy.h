#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

// Share of rows whose highest score is the label's (ties: the first class; NaN never wins, unless
// all are NaN: class 0). Without rows every number is NaN. Controls: majority_class (share of the
// most frequent label among these rows), chance (1 / classes).
//   scores [rows, classes], labels [rows] in [0, classes)
Finding accuracy(std::span<const float> scores,
                 int64_t classes,
                 std::span<const int64_t> labels,
                 const BootstrapOptions& options);

// Mean over the classes present of the share of their rows that are right. Control: chance.
Finding balanced_accuracy(std::span<const float> scores,
                          int64_t classes,
                          std::span<const int64_t> labels,
                          const BootstrapOptions& options);

// Share of right yes/no answers over all outputs of all rows, yes being a positive logit: what the
// paper calls accuracy of a multi-category logistic loss. Control: always_no (with C categories
// and no negatives 1 - 1 / C).
//   logits [rows, outputs], labels [rows] in [-1, outputs), -1: none of them
Finding output_accuracy(std::span<const float> logits,
                        int64_t outputs,
                        std::span<const int64_t> labels,
                        const BootstrapOptions& options);

}  // namespace partwise::metrics
