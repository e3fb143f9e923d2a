#include "partwise/metrics/adversarial_distortion.h"

#include "partwise/metrics/statistics.h"

#include <cmath>
#include <utility>
#include <vector>

namespace partwise::metrics {
namespace {

double mean_distortion(std::span<const AttackedRow> rows, std::span<const int32_t> counts) {
  ExistingMean mean;
  for (std::size_t row = 0; row < rows.size(); ++row) mean.add(rows[row].distortion, counts[row]);
  return mean.value();
}

}  // namespace

AdversarialDistortion adversarial_distortion(std::span<const AttackedRow> rows,
                                             const BootstrapOptions& bootstrap) {
  ExistingMean success;
  ExistingMean flips;
  ExistingMean at_random;
  for (const auto& row : rows) {
    const bool succeeded = !std::isnan(row.distortion);
    success.add(succeeded ? 1.0 : 0.0);
    if (succeeded) flips.add(row.random_flips ? 1.0 : 0.0);
    at_random.add(row.random_distortion);
  }
  const std::vector<int32_t> once(rows.size(), 1);
  auto finding = finding_within(
      mean_distortion(rows, once),
      bootstrap_interval(std::ssize(rows), 0, bootstrap, [&](const Resample& resample) {
        return mean_distortion(rows, resample.rows);
      }));
  finding.controls["random_direction"] = at_random.value();
  return {std::move(finding), success.value(), flips.value()};
}

}  // namespace partwise::metrics
