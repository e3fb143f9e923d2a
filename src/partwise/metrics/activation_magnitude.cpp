#include "partwise/metrics/activation_magnitude.h"

#include "partwise/base/error.h"
#include "partwise/metrics/statistics.h"

namespace partwise::metrics {
namespace {

constexpr uint64_t kMagnitudeStream = 0x6d61676e;

struct Means {
  ExistingMean on_target;
  ExistingMean on_other;
  ExistingMean any;

  [[nodiscard]] double ratio() const { return quotient(on_target.value(), on_other.value()); }
};

Means pooled_means(const MapSummaries& maps,
                   std::span<const int64_t> row_category,
                   std::span<const int64_t> filter_category,
                   std::span<const int32_t> row_counts,
                   std::span<const int32_t> filter_counts) {
  Means means;
  for (int64_t f = 0; f < maps.filters; ++f) {
    if (filter_category[f] < 0 || filter_counts[f] == 0) continue;
    const double weight = filter_counts[f];
    const auto peaks = maps.peaks_of(f);
    double sums[2] = {};
    double draws[2] = {};
    for (std::size_t row = 0; row < peaks.size(); ++row) {
      const std::size_t side = row_category[row] == filter_category[f] ? 1 : 0;
      sums[side] += row_counts[row] * mass(peaks[row]);
      draws[side] += row_counts[row];
    }
    means.on_other.add(sums[0] / draws[0], weight * draws[0]);
    means.on_target.add(sums[1] / draws[1], weight * draws[1]);
    means.any.add((sums[0] + sums[1]) / (draws[0] + draws[1]), weight * (draws[0] + draws[1]));
  }
  return means;
}

}  // namespace

ActivationMagnitude activation_magnitude(const MapSummaries& maps,
                                         std::span<const int64_t> row_category,
                                         std::span<const int64_t> filter_category,
                                         const BootstrapOptions& bootstrap) {
  expect_consistent(maps);
  expects(maps.rows == std::ssize(row_category), "{} categories for {} rows", row_category.size(),
          maps.rows);
  expects(maps.filters == std::ssize(filter_category), "{} categories for {} filters",
          filter_category.size(), maps.filters);
  const std::vector<int32_t> rows_once(static_cast<std::size_t>(maps.rows), 1);
  const std::vector<int32_t> filters_once(static_cast<std::size_t>(maps.filters), 1);
  const auto full = pooled_means(maps, row_category, filter_category, rows_once, filters_once);
  auto drawn = resampled_together(3, maps.rows, maps.filters, bootstrap,
                                  [&](std::span<const Resample> draws, std::span<double> numbers) {
                                    for (std::size_t d = 0; d < draws.size(); ++d) {
                                      const auto means =
                                          pooled_means(maps, row_category, filter_category,
                                                       draws[d].rows, draws[d].filters);
                                      numbers[3 * d] = means.on_target.value();
                                      numbers[3 * d + 1] = means.on_other.value();
                                      numbers[3 * d + 2] = means.ratio();
                                    }
                                  });
  const auto finding = [&](double value, std::size_t place) {
    return finding_within(value, percentile_interval(std::move(drawn[place])));
  };
  ActivationMagnitude result;
  result.on_target = finding(full.on_target.value(), 0);
  result.on_other = finding(full.on_other.value(), 1);
  result.ratio = finding(full.ratio(), 2);
  result.on_target.controls["any_row"] = full.any.value();
  result.on_other.controls["any_row"] = full.any.value();
  std::vector<int64_t> labels(row_category.begin(), row_category.end());
  auto random = control_random(bootstrap, kMagnitudeStream, 0);
  shuffle(labels, random);
  result.ratio.controls["no_preference"] = 1.0;
  result.ratio.controls["shuffled_labels"] =
      pooled_means(maps, labels, filter_category, rows_once, filters_once).ratio();
  return result;
}

}  // namespace partwise::metrics
