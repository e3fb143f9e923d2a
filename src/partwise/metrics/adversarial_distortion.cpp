#include "partwise/metrics/adversarial_distortion.h"

#include "partwise/metrics/statistics.h"

#include <cmath>

namespace partwise::metrics {

Finding adversarial_distortion(std::span<const AttackedRow> rows,
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
  auto finding =
      finding_of_rows(std::ssize(rows), bootstrap, [&](std::span<const int32_t> row_counts) {
        ExistingMean mean;
        for (std::size_t row = 0; row < rows.size(); ++row)
          mean.add(rows[row].distortion, row_counts[row]);
        return mean.value();
      });
  finding.controls["random_direction"] = at_random.value();
  finding.facts = {
      {"images", rows.size()}, {"success_share", success.value()}, {"random_flips", flips.value()}};
  return finding;
}

}  // namespace partwise::metrics
