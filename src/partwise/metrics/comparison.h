#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace partwise::metrics {

// Second minus first, with its 95 % interval.
struct Comparison {
  double difference = 0.0;
  double low = 0.0;
  double high = 0.0;

  // Whether the interval exists and leaves out 0.
  [[nodiscard]] bool distinguishable() const;
};

// "higher", "lower" (the second), or "not distinguishable".
std::string verdict(const Comparison& comparison);

// Are the two sets of filters the same ones (one layer measured twice), or those of two nets, of
// which number 7 here has nothing to do with number 7 there?
enum class Filters { separate, paired };

// Two statistics of the same rows. Every resample draws the rows once for both, so what is hard in
// an image is hard for both and cancels; filters are drawn for each (separate) or once (paired,
// then their numbers must agree). Centred on the difference of the full samples. Statistics may be
// called from several threads.
using Statistic = std::function<double(const Resample&)>;
Comparison compare(int64_t rows,
                   int64_t first_filters,
                   int64_t second_filters,
                   Filters filters,
                   const BootstrapOptions& bootstrap,
                   const Statistic& first,
                   const Statistic& second);

// Two findings of one metric on the same rows, measured with the same seed and number of resamples:
// draw r took the same rows for both. The second needs a filter_stream of its own where its filters
// are those of another net. Draws in which either number does not exist are left out.
Comparison compare(const Finding& first, const Finding& second);

// Means of one number a row; rows in which either does not exist (NaN) are left out.
Comparison compare_rows(std::span<const double> first,
                        std::span<const double> second,
                        const BootstrapOptions& bootstrap);

// Numbers of every row and filter, [rows, filters]; NaN: does not exist.
struct RowFilterValues {
  std::span<const double> values;
  int64_t rows = 0;
  int64_t filters = 0;
};

// Means over the filters of the means over their rows.
Comparison compare_filters(const RowFilterValues& first,
                           const RowFilterValues& second,
                           Filters filters,
                           const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
