#include "partwise/metrics/comparison.h"

#include "partwise/base/error.h"
#include "partwise/metrics/statistics.h"

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

double mean_of(const RowFilterValues& numbers, const Resample& resample) {
  std::vector<ExistingMean> by_filter(static_cast<std::size_t>(numbers.filters));
  for (int64_t row = 0; row < numbers.rows; ++row) {
    if (resample.rows[row] == 0) continue;
    for (int64_t f = 0; f < numbers.filters; ++f)
      by_filter[f].add(numbers.values[row * numbers.filters + f], resample.rows[row]);
  }
  ExistingMean mean;
  for (int64_t f = 0; f < numbers.filters; ++f) mean.add(by_filter[f].value(), resample.filters[f]);
  return mean.value();
}

void expect_consistent(const RowFilterValues& numbers) {
  expects(numbers.rows >= 0 && numbers.filters >= 0 &&
              std::ssize(numbers.values) == numbers.rows * numbers.filters,
          "{} values for {} rows and {} filters", numbers.values.size(), numbers.rows,
          numbers.filters);
}

}  // namespace

bool Comparison::distinguishable() const {
  return low > 0.0 || high < 0.0;
}

std::string verdict(const Comparison& comparison) {
  if (!comparison.distinguishable()) return "not distinguishable";
  return comparison.low > 0.0 ? "higher" : "lower";
}

Comparison compare(int64_t rows,
                   int64_t first_filters,
                   int64_t second_filters,
                   Filters filters,
                   const BootstrapOptions& bootstrap,
                   const Statistic& first,
                   const Statistic& second) {
  expects(filters == Filters::separate || first_filters == second_filters,
          "{} filters cannot be paired with {}", first_filters, second_filters);
  const std::vector<int32_t> rows_once(static_cast<std::size_t>(rows), 1);
  const std::vector<int32_t> first_once(static_cast<std::size_t>(first_filters), 1);
  const std::vector<int32_t> second_once(static_cast<std::size_t>(second_filters), 1);
  const double difference = second({rows_once, second_once, 0}) - first({rows_once, first_once, 0});
  const auto interval = centred_bootstrap_interval(
      difference, rows, first_filters, bootstrap, [&](const Resample& resample) {
        if (filters == Filters::paired) return second(resample) - first(resample);
        Random random(resample.seed);
        const auto counts = draw_counts(second_filters, random);
        return second({resample.rows, counts, random.bits()}) - first(resample);
      });
  return {difference, interval.low, interval.high};
}

Comparison compare(const Finding& first, const Finding& second) {
  expects(first.resamples.size() == second.resamples.size(),
          "{} resamples cannot be paired with {}", first.resamples.size(), second.resamples.size());
  std::vector<double> differences;
  differences.reserve(first.resamples.size());
  for (std::size_t draw = 0; draw < first.resamples.size(); ++draw)
    differences.push_back(second.resamples[draw] - first.resamples[draw]);
  const double difference = second.value - first.value;
  const auto interval = centred_interval(difference, std::move(differences));
  return {difference, interval.low, interval.high};
}

Comparison compare_rows(std::span<const double> first,
                        std::span<const double> second,
                        const BootstrapOptions& bootstrap) {
  expects(first.size() == second.size(), "{} rows cannot be compared with {}", first.size(),
          second.size());
  std::vector<double> differences;
  for (std::size_t row = 0; row < first.size(); ++row) {
    const double difference = second[row] - first[row];
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  const auto rows = std::ssize(differences);
  const std::vector<double> none(differences.size());
  return compare_filters({none, rows, 1}, {differences, rows, 1}, Filters::paired, bootstrap);
}

Comparison compare_filters(const RowFilterValues& first,
                           const RowFilterValues& second,
                           Filters filters,
                           const BootstrapOptions& bootstrap) {
  expect_consistent(first);
  expect_consistent(second);
  expects(first.rows == second.rows, "{} rows cannot be compared with {}", first.rows, second.rows);
  return compare(
      first.rows, first.filters, second.filters, filters, bootstrap,
      [&](const Resample& resample) { return mean_of(first, resample); },
      [&](const Resample& resample) { return mean_of(second, resample); });
}

}  // namespace partwise::metrics
