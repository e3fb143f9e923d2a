#include "partwise/metrics/filter_mean.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <utility>

namespace partwise::metrics {
namespace {

double mean_of(std::span<const double> values) {
  ExistingMean mean;
  for (const double value : values) mean.add(value);
  return mean.value();
}

}  // namespace

std::vector<Draws> drawn_means(int64_t count,
                               int64_t rows,
                               int64_t filters,
                               const BootstrapOptions& bootstrap,
                               const FilterStatistics& prepare) {
  const auto size = static_cast<std::size_t>(count);
  const auto means = [&](std::span<const Resample> draws, std::span<double> found) {
    const auto fill = prepare(draws.front().rows);
    std::vector<ExistingMean> mean(draws.size() * size);
    std::vector<double> numbers(size);
    for (int64_t filter = 0; filter < filters; ++filter) {
      const auto times = [&](const Resample& draw) { return draw.filters[filter]; };
      if (std::none_of(draws.begin(), draws.end(), times)) continue;
      fill(filter, numbers);
      for (std::size_t m = 0; m < mean.size(); ++m)
        mean[m].add(numbers[m % size], times(draws[m / size]));
    }
    for (std::size_t m = 0; m < mean.size(); ++m) found[m] = mean[m].value();
  };
  return resampled_together(count, rows, filters, bootstrap, means);
}

std::vector<FilterMean> means_over_filters(int64_t count,
                                           int64_t rows,
                                           int64_t filters,
                                           const BootstrapOptions& bootstrap,
                                           const FilterStatistics& prepare,
                                           double least,
                                           double most) {
  const auto size = static_cast<std::size_t>(count);
  const std::vector<int32_t> once(static_cast<std::size_t>(rows), 1);
  std::vector<FilterMean> result(size);
  for (auto& one : result) one.by_filter.resize(static_cast<std::size_t>(filters));
  const auto fill = prepare(once);
  parallel_for(filters, static_cast<int>(bootstrap.threads), [&](int64_t filter) {
    std::vector<double> numbers(size);
    fill(filter, numbers);
    for (std::size_t i = 0; i < size; ++i) result[i].by_filter[filter] = numbers[i];
  });
  auto drawn = drawn_means(count, rows, filters, bootstrap, prepare);
  for (std::size_t i = 0; i < size; ++i) {
    const double value = mean_of(result[i].by_filter);
    result[i].finding =
        finding_within(value, centred_interval(value, std::move(drawn[i])), least, most);
  }
  return result;
}

FilterMean mean_over_filters(int64_t rows,
                             int64_t filters,
                             const BootstrapOptions& bootstrap,
                             const FilterStatistic& statistic,
                             double least,
                             double most) {
  const auto alone = [&](std::span<const int32_t> row_counts) -> FillNumbers {
    return [&statistic, row_counts](int64_t filter, std::span<double> numbers) {
      numbers.front() = statistic(filter, row_counts);
    };
  };
  return means_over_filters(1, rows, filters, bootstrap, alone, least, most).front();
}

double mean_control(int64_t filters,
                    const BootstrapOptions& bootstrap,
                    const std::function<double(int64_t filter)>& control) {
  std::vector<double> values(static_cast<std::size_t>(filters));
  parallel_for(filters, static_cast<int>(bootstrap.threads),
               [&](int64_t filter) { values[filter] = control(filter); });
  return mean_of(values);
}

}  // namespace partwise::metrics
