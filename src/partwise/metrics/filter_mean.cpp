#include "partwise/metrics/filter_mean.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <utility>

namespace partwise::metrics {
namespace {

std::vector<double> by_filter(int64_t filters,
                              const BootstrapOptions& bootstrap,
                              const std::function<double(int64_t)>& number) {
  std::vector<double> values(static_cast<std::size_t>(filters));
  parallel_for(filters, static_cast<int>(bootstrap.threads),
               [&](int64_t filter) { values[filter] = number(filter); });
  return values;
}

double mean_of(std::span<const double> values) {
  ExistingMean mean;
  for (const double value : values) mean.add(value);
  return mean.value();
}

}  // namespace

std::vector<FilterMean> means_over_filters(int64_t count,
                                           int64_t rows,
                                           int64_t filters,
                                           const BootstrapOptions& bootstrap,
                                           const FilterStatistics& statistics,
                                           double least,
                                           double most) {
  const auto size = static_cast<std::size_t>(count);
  const std::vector<int32_t> once(static_cast<std::size_t>(rows), 1);
  std::vector<FilterMean> result(size);
  for (auto& one : result) one.by_filter.resize(static_cast<std::size_t>(filters));
  parallel_for(filters, static_cast<int>(bootstrap.threads), [&](int64_t filter) {
    std::vector<double> numbers(size);
    statistics(filter, once, numbers);
    for (std::size_t i = 0; i < size; ++i) result[i].by_filter[filter] = numbers[i];
  });
  auto drawn = resampled_values(count, rows, filters, bootstrap,
                                [&](const Resample& resample, std::span<double> means) {
                                  std::vector<ExistingMean> mean(size);
                                  std::vector<double> numbers(size);
                                  for (int64_t filter = 0; filter < filters; ++filter) {
                                    if (resample.filters[filter] == 0) continue;
                                    statistics(filter, resample.rows, numbers);
                                    for (std::size_t i = 0; i < size; ++i)
                                      mean[i].add(numbers[i], resample.filters[filter]);
                                  }
                                  for (std::size_t i = 0; i < size; ++i) means[i] = mean[i].value();
                                });
  for (std::size_t i = 0; i < size; ++i) {
    const double value = mean_of(result[i].by_filter);
    const auto interval = centred_interval(value, std::move(drawn[i]));
    result[i].finding = {.value = value,
                         .low = std::clamp(interval.low, least, most),
                         .high = std::clamp(interval.high, least, most),
                         .controls = {},
                         .resamples = interval.resamples};
  }
  return result;
}

FilterMean mean_over_filters(int64_t rows,
                             int64_t filters,
                             const BootstrapOptions& bootstrap,
                             const FilterStatistic& statistic,
                             double least,
                             double most) {
  const auto alone = [&](int64_t filter, std::span<const int32_t> row_counts,
                         std::span<double> numbers) {
    numbers.front() = statistic(filter, row_counts);
  };
  return means_over_filters(1, rows, filters, bootstrap, alone, least, most).front();
}

double mean_control(int64_t filters,
                    const BootstrapOptions& bootstrap,
                    const std::function<double(int64_t filter)>& control) {
  return mean_of(by_filter(filters, bootstrap, control));
}

}  // namespace partwise::metrics
