#include "partwise/metrics/bootstrap.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace partwise::metrics {
namespace {

std::vector<double> existing_ascending(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> one_statistic(int64_t rows,
                                  int64_t filters,
                                  const BootstrapOptions& options,
                                  const std::function<double(const Resample&)>& statistic) {
  return resampled_values(1, rows, filters, options,
                          [&](const Resample& resample, std::span<double> numbers) {
                            numbers.front() = statistic(resample);
                          })
      .front();
}

}  // namespace

std::vector<std::vector<double>> resampled_values(
    int64_t count,
    int64_t rows,
    int64_t filters,
    const BootstrapOptions& options,
    const std::function<void(const Resample&, std::span<double> numbers)>& statistics) {
  validate(options);
  const auto draws = static_cast<std::size_t>(rows == 0 ? 0 : options.resamples);
  std::vector<std::vector<double>> values(static_cast<std::size_t>(count),
                                          std::vector<double>(draws));
  parallel_for(std::ssize(values.front()), static_cast<int>(options.threads), [&](int64_t index) {
    Random random(derive_seed({static_cast<uint64_t>(options.seed), static_cast<uint64_t>(index)}));
    const auto row_counts = draw_counts(rows, random);
    if (options.filter_stream != 0)
      random = Random(derive_seed({random.bits(), static_cast<uint64_t>(options.filter_stream)}));
    const auto filter_counts = draw_counts(filters, random);
    std::vector<double> numbers(values.size());
    statistics({row_counts, filter_counts, random.bits()}, numbers);
    for (std::size_t i = 0; i < values.size(); ++i) values[i][index] = numbers[i];
  });
  return values;
}

Interval percentile_interval(std::vector<double> values) {
  const auto ascending = existing_ascending(values);
  return {percentile(ascending, 0.025), percentile(ascending, 0.975), std::move(values)};
}

Interval centred_interval(double value, std::vector<double> values) {
  // Summed as differences, so that resamples which all equal the value leave it untouched.
  ExistingMean bias;
  for (const double resampled : existing_ascending(values)) bias.add(resampled - value);
  auto interval = percentile_interval(std::move(values));
  interval.low -= bias.value();
  interval.high -= bias.value();
  return interval;
}

std::vector<int32_t> draw_counts(int64_t items, Random& random) {
  std::vector<int32_t> counts(static_cast<std::size_t>(items));
  for (int64_t draw = 0; draw < items; ++draw) ++counts[random.below(items)];
  return counts;
}

Interval bootstrap_interval(int64_t rows,
                            int64_t filters,
                            const BootstrapOptions& options,
                            const std::function<double(const Resample&)>& statistic) {
  return percentile_interval(one_statistic(rows, filters, options, statistic));
}

Interval centred_bootstrap_interval(double value,
                                    int64_t rows,
                                    int64_t filters,
                                    const BootstrapOptions& options,
                                    const std::function<double(const Resample&)>& statistic) {
  return centred_interval(value, one_statistic(rows, filters, options, statistic));
}

Random control_random(const BootstrapOptions& options, uint64_t stream, int64_t item) {
  return Random(
      derive_seed({static_cast<uint64_t>(options.seed), stream, static_cast<uint64_t>(item)}));
}

}  // namespace partwise::metrics
