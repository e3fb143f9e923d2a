#include "partwise/metrics/bootstrap.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace partwise::metrics {
namespace {

constexpr uint64_t kPartnerStream = 1;

std::vector<double> existing_ascending(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::sort(values.begin(), values.end());
  return values;
}

// How often each item comes up in as many draws, with replacement, as there are items.
std::vector<int32_t> draw_counts(int64_t items, Random& random) {
  std::vector<int32_t> counts(static_cast<std::size_t>(items));
  for (int64_t draw = 0; draw < items; ++draw) ++counts[random.below(items)];
  return counts;
}

}  // namespace

std::vector<Draws> resampled_together(
    int64_t count,
    int64_t rows,
    int64_t filters,
    const BootstrapOptions& options,
    const std::function<void(std::span<const Resample>, std::span<double>)>& statistics) {
  validate(options);
  const auto size = static_cast<std::size_t>(count);
  const std::vector<double> none(static_cast<std::size_t>(rows == 0 ? 0 : options.resamples));
  std::vector<Draws> values(size, {none, filters == 0 ? std::vector<double>{} : none});
  parallel_for(std::ssize(none), static_cast<int>(options.threads), [&](int64_t index) {
    Random random(derive_seed({static_cast<uint64_t>(options.seed), static_cast<uint64_t>(index)}));
    const auto row_counts = draw_counts(rows, random);
    auto partner_random = random;
    partner_random = Random(derive_seed({partner_random.bits(), kPartnerStream}));
    const auto own = draw_counts(filters, random);
    const auto partner = draw_counts(filters, partner_random);
    const std::array<Resample, 2> draws{
        {{row_counts, own, random.bits()}, {row_counts, partner, partner_random.bits()}}};
    std::vector<double> numbers(2 * size);
    statistics(std::span(draws).first(filters == 0 ? 1 : 2), numbers);
    for (std::size_t i = 0; i < size; ++i) {
      values[i].own[index] = numbers[i];
      if (filters != 0) values[i].partner[index] = numbers[size + i];
    }
  });
  return values;
}

Interval percentile_interval(Draws draws) {
  const auto ascending = existing_ascending(draws.own);
  return {percentile(ascending, 0.025), percentile(ascending, 0.975), std::move(draws)};
}

Interval centred_interval(double value, Draws draws) {
  // Summed as differences, so that resamples which all equal the value leave it untouched.
  ExistingMean bias;
  for (const double resampled : existing_ascending(draws.own)) bias.add(resampled - value);
  auto interval = percentile_interval(std::move(draws));
  interval.low -= bias.value();
  interval.high -= bias.value();
  return interval;
}

Finding finding_within(double value, Interval interval, double least, double most) {
  return {.value = value,
          .low = std::clamp(interval.low, least, most),
          .high = std::clamp(interval.high, least, most),
          .draws = std::move(interval.draws)};
}

Interval bootstrap_interval(int64_t rows,
                            int64_t filters,
                            const BootstrapOptions& options,
                            const std::function<double(const Resample&)>& statistic) {
  auto drawn = resampled_together(
      1, rows, filters, options, [&](std::span<const Resample> draws, std::span<double> numbers) {
        std::transform(draws.begin(), draws.end(), numbers.begin(), statistic);
      });
  return percentile_interval(std::move(drawn.front()));
}

Finding finding_of_rows(
    int64_t rows,
    const BootstrapOptions& options,
    const std::function<double(std::span<const int32_t> row_counts)>& statistic) {
  const std::vector<int32_t> once(static_cast<std::size_t>(rows), 1);
  return finding_within(statistic(once),
                        bootstrap_interval(rows, 0, options, [&](const Resample& resample) {
                          return statistic(resample.rows);
                        }));
}

double draws_among(std::span<const int64_t> rows, std::span<const int32_t> row_counts) {
  int64_t draws = 0;
  for (const int64_t row : rows) draws += row_counts[row];
  return static_cast<double>(draws);
}

Random control_random(const BootstrapOptions& options, uint64_t stream, int64_t item) {
  return Random(
      derive_seed({static_cast<uint64_t>(options.seed), stream, static_cast<uint64_t>(item)}));
}

}  // namespace partwise::metrics
