#include "partwise/metrics/filter_mean.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>

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

FilterMean mean_over_filters(int64_t rows,
                             int64_t filters,
                             const BootstrapOptions& bootstrap,
                             const FilterStatistic& statistic,
                             double least,
                             double most) {
  const std::vector<int32_t> once(static_cast<std::size_t>(rows), 1);
  FilterMean result;
  result.by_filter =
      by_filter(filters, bootstrap, [&](int64_t filter) { return statistic(filter, once); });
  const double value = mean_of(result.by_filter);
  const auto interval =
      centred_bootstrap_interval(value, rows, filters, bootstrap, [&](const Resample& resample) {
        ExistingMean mean;
        for (int64_t filter = 0; filter < filters; ++filter) {
          if (resample.filters[filter] == 0) continue;
          mean.add(statistic(filter, resample.rows), resample.filters[filter]);
        }
        return mean.value();
      });
  result.finding = {.value = value,
                    .low = std::clamp(interval.low, least, most),
                    .high = std::clamp(interval.high, least, most),
                    .controls = {},
                    .resamples = interval.resamples};
  return result;
}

double mean_control(int64_t filters,
                    const BootstrapOptions& bootstrap,
                    const std::function<double(int64_t filter)>& control) {
  return mean_of(by_filter(filters, bootstrap, control));
}

}  // namespace partwise::metrics
