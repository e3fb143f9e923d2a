#include "partwise/metrics/activation_magnitude.h"

#include "partwise/base/error.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>

namespace partwise::metrics {
namespace {

constexpr uint64_t kMagnitudeStream = 0x6d61676e;

struct Means {
  ExistingMean on_target;
  ExistingMean on_other;
  ExistingMean any;

  [[nodiscard]] double ratio() const { return quotient(on_target.value(), on_other.value()); }
};

// Of one filter, over the drawn rows of its category and over the others.
struct PeakSums {
  double sums[2] = {};
  double draws[2] = {};
};

PeakSums peak_sums(std::span<const float> peaks,
                   std::span<const int64_t> row_category,
                   int64_t category,
                   std::span<const int32_t> row_counts) {
  double on_target = 0.0;
  double on_other = 0.0;
  int64_t target_draws = 0;
  int64_t draws = 0;
  for (std::size_t row = 0; row < peaks.size(); ++row) {
    const bool target = row_category[row] == category;
    const double peak = row_counts[row] * mass(peaks[row]);
    on_target += target ? peak : 0.0;
    on_other += target ? 0.0 : peak;
    target_draws += target ? row_counts[row] : 0;
    draws += row_counts[row];
  }
  return {{on_other, on_target},
          {static_cast<double>(draws - target_draws), static_cast<double>(target_draws)}};
}

// In each of several draws of filters, in one look at the rows.
std::vector<Means> pooled_means(const MapSummaries& maps,
                                std::span<const int64_t> row_category,
                                std::span<const int64_t> filter_category,
                                std::span<const int32_t> row_counts,
                                std::span<const std::span<const int32_t>> filter_counts) {
  std::vector<Means> means(filter_counts.size());
  for (int64_t f = 0; f < maps.filters; ++f) {
    const auto times = [&](std::span<const int32_t> counts) { return counts[f]; };
    if (filter_category[f] < 0 || std::none_of(filter_counts.begin(), filter_counts.end(), times))
      continue;
    const auto [sums, draws] =
        peak_sums(maps.peaks_of(f), row_category, filter_category[f], row_counts);
    for (std::size_t d = 0; d < means.size(); ++d) {
      const double weight = times(filter_counts[d]);
      if (weight == 0.0) continue;
      means[d].on_other.add(sums[0] / draws[0], weight * draws[0]);
      means[d].on_target.add(sums[1] / draws[1], weight * draws[1]);
      means[d].any.add((sums[0] + sums[1]) / (draws[0] + draws[1]), weight * (draws[0] + draws[1]));
    }
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
  const auto once = [&](std::span<const int64_t> categories) {
    const std::span<const int32_t> each[] = {filters_once};
    return pooled_means(maps, categories, filter_category, rows_once, each).front();
  };
  const auto full = once(row_category);
  auto drawn = resampled_together(3, maps.rows, maps.filters, bootstrap,
                                  [&](std::span<const Resample> draws, std::span<double> numbers) {
                                    std::vector<std::span<const int32_t>> filters;
                                    for (const auto& draw : draws) filters.push_back(draw.filters);
                                    const auto means =
                                        pooled_means(maps, row_category, filter_category,
                                                     draws.front().rows, filters);
                                    for (std::size_t d = 0; d < draws.size(); ++d) {
                                      numbers[3 * d] = means[d].on_target.value();
                                      numbers[3 * d + 1] = means[d].on_other.value();
                                      numbers[3 * d + 2] = means[d].ratio();
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
  result.ratio.controls["shuffled_labels"] = once(labels).ratio();
  return result;
}

}  // namespace partwise::metrics
