#include "partwise/metrics/class_selectivity.h"

#include "partwise/base/error.h"
#include "partwise/metrics/statistics.h"

namespace partwise::metrics {
namespace {

constexpr uint64_t kSelectivityStream = 0x73656c65;

double selectivity_of(std::span<const double> masses,
                      double cells,
                      std::span<const int64_t> row_class,
                      int64_t classes,
                      std::span<const int32_t> row_counts) {
  std::vector<ExistingMean> means(static_cast<std::size_t>(classes));
  for (std::size_t row = 0; row < masses.size(); ++row) {
    if (row_class[row] >= 0) means[row_class[row]].add(masses[row] / cells, row_counts[row]);
  }
  std::vector<double> activity;
  activity.reserve(means.size());
  for (const auto& mean : means) activity.push_back(mean.value());
  const int64_t preferred = place_of_largest(activity);
  const double most = largest_existing(activity);
  ExistingMean rest;
  for (int64_t other = 0; other < classes; ++other) {
    if (other != preferred) rest.add(activity[other]);
  }
  return quotient(most - rest.value(), most + rest.value());
}

}  // namespace

FilterMean class_selectivity(const MapSummaries& maps,
                             std::span<const int64_t> row_class,
                             int64_t classes,
                             const BootstrapOptions& bootstrap) {
  expect_consistent(maps);
  expects(maps.rows == std::ssize(row_class), "{} classes for {} rows", row_class.size(),
          maps.rows);
  for (const int64_t shown : row_class) expects(shown < classes, "no class {}", shown);
  const auto cells = static_cast<double>(maps.side * maps.side);
  const auto measure = [&](int64_t filter, std::span<const int64_t> labels,
                           std::span<const int32_t> row_counts) {
    return selectivity_of(maps.masses_of(filter), cells, labels, classes, row_counts);
  };
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  auto result = mean_over_filters(maps.rows, maps.filters, bootstrap,
                                  [&](int64_t filter, std::span<const int32_t> row_counts) {
                                    return measure(filter, row_class, row_counts);
                                  });
  result.finding.controls["shuffled_labels"] =
      mean_control(maps.filters, bootstrap, [&](int64_t filter) {
        std::vector<int64_t> labels(row_class.begin(), row_class.end());
        auto random = control_random(bootstrap, kSelectivityStream, filter);
        shuffle(labels, random);
        return measure(filter, labels, once);
      });
  return result;
}

}  // namespace partwise::metrics
