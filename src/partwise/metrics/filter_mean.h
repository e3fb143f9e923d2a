#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace partwise::metrics {

// A number of one filter when row r counts row_counts[r] times; NaN where it does not exist. May be
// called from several threads.
using FilterStatistic = std::function<double(int64_t filter, std::span<const int32_t> row_counts)>;

struct FilterMean {
  Finding finding;                // mean over the filters for which the number exists; no controls
  std::vector<double> by_filter;  // every row counted once
};

// The mean over filters with its centred bootstrap interval, cut to [least, most], the range of the
// statistic. Filters that were not drawn are not asked.
FilterMean mean_over_filters(int64_t rows,
                             int64_t filters,
                             const BootstrapOptions& bootstrap,
                             const FilterStatistic& statistic,
                             double least = 0.0,
                             double most = 1.0);

// In every draw, the means over the filters of `count` numbers of each. `prepare` is called once
// per draw of rows and gives what fills the numbers of a filter; filters that were not drawn are
// not asked, those in both draws once.
using FillNumbers = std::function<void(int64_t filter, std::span<double> numbers)>;
using FilterStatistics = std::function<FillNumbers(std::span<const int32_t> row_counts)>;
std::vector<Draws> drawn_means(int64_t count,
                               int64_t rows,
                               int64_t filters,
                               const BootstrapOptions& bootstrap,
                               const FilterStatistics& prepare);

// The same as mean_over_filters for several numbers of a filter that are best found together.
std::vector<FilterMean> means_over_filters(int64_t count,
                                           int64_t rows,
                                           int64_t filters,
                                           const BootstrapOptions& bootstrap,
                                           const FilterStatistics& prepare,
                                           double least = 0.0,
                                           double most = 1.0);

// The mean over filters of a control, computed in parallel.
double mean_control(int64_t filters,
                    const BootstrapOptions& bootstrap,
                    const std::function<double(int64_t filter)>& control);

}  // namespace partwise::metrics
