#pragma once

#include "partwise/base/options.h"
#include "partwise/base/random.h"
#include "partwise/metrics/finding.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace partwise::metrics {

struct BootstrapOptions {
  int64_t resamples = 1000;
  int64_t seed = 1;
  int64_t threads = 0;  // 0: all cores; results do not depend on it

  static auto fields() {
    using Row = Field<BootstrapOptions, int64_t>;
    return std::tuple{
        Row{"resamples", &BootstrapOptions::resamples, "bootstrap resamples", 10, 1'000'000},
        Row{"bootstrap_seed", &BootstrapOptions::seed, "seed of the bootstrap", 0},
    };
  }
};

// One draw: how often each row, and each filter, was drawn (with replacement, as many draws as
// items). `seed` is the draw's own, for a statistic that draws something itself.
struct Resample {
  std::span<const int32_t> rows;
  std::span<const int32_t> filters;
  uint64_t seed = 0;
};

// 2.5 and 97.5 % of the own draws that exist; the draws, not centred, stay with it.
Interval percentile_interval(Draws draws);

// The same, moved so that the mean of the own draws falls on `value`, the statistic of the sample
// itself. For a statistic that repeated rows bias: a spread (repeats have no distance) or the best
// of several (noise is chosen twice). With many filters that bias exceeds the interval's width: the
// plain one would exclude its own value, and call filters that know nothing better than chance. The
// interval is one for the statistic's expectation on samples of this size; NaN if `value` is.
Interval centred_interval(double value, Draws draws);

// The finding with this interval, cut to [least, most].
Finding finding_within(double value,
                       Interval interval,
                       double least = -std::numeric_limits<double>::infinity(),
                       double most = std::numeric_limits<double>::infinity());

// Several statistics of the draws of bootstrap_interval, at the price of one look at each. `draws`
// have the same rows, the second (none without filters) the partner's filters; number i of draw d
// is numbers[d * count + i].
std::vector<Draws> resampled_together(
    int64_t count,
    int64_t rows,
    int64_t filters,
    const BootstrapOptions& options,
    const std::function<void(std::span<const Resample> draws, std::span<double> numbers)>&
        statistics);

// 95 % percentile interval of a statistic when rows and filters are both drawn anew, which is wider
// than drawing either alone: a claim about other images *and* other filters of such a net.
// Draw r depends on options.seed and r alone, so two statistics of the same rows and filters see
// the same draws; each draw of rows comes with a second one of filters, the partner's. Resamples
// for which the statistic does not exist (NaN) are left out; both ends are NaN if none is left.
// Pass filters = 0 for a statistic without filters. `statistic` may be called from several threads.
Interval bootstrap_interval(int64_t rows,
                            int64_t filters,
                            const BootstrapOptions& options,
                            const std::function<double(const Resample&)>& statistic);

// The finding of a statistic of rows alone, within that interval.
Finding finding_of_rows(
    int64_t rows,
    const BootstrapOptions& options,
    const std::function<double(std::span<const int32_t> row_counts)>& statistic);

// How many of a sample's draws fell on these rows.
double draws_among(std::span<const int64_t> rows, std::span<const int32_t> row_counts);

// The generator of a control, one for every metric (`stream`) and item (a filter, say), so that
// neither the order of the items nor the number of threads matters.
Random control_random(const BootstrapOptions& options, uint64_t stream, int64_t item);

}  // namespace partwise::metrics
