#pragma once

#include "partwise/metrics/map_source.h"
#include "partwise/metrics/maps.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

// What is kept of each map by the metrics that need its peak and its mass alone: 16 bytes in place
// of side * side floats.
struct MapSummaries {
  int64_t rows = 0;
  int64_t filters = 0;
  int64_t side = 0;
  std::vector<int32_t> cells;  // [filters, rows]: the peak's cell, i * side + j
  std::vector<float> peaks;    // [filters, rows]: its value; -inf for a map of nothing but NaN
  std::vector<double> masses;  // [filters, rows]: sum of the positive activations

  [[nodiscard]] std::span<const int32_t> cells_of(int64_t filter) const {
    return std::span(cells).subspan(static_cast<std::size_t>(filter * rows),
                                    static_cast<std::size_t>(rows));
  }
  [[nodiscard]] std::span<const float> peaks_of(int64_t filter) const {
    return std::span(peaks).subspan(static_cast<std::size_t>(filter * rows),
                                    static_cast<std::size_t>(rows));
  }
  [[nodiscard]] std::span<const double> masses_of(int64_t filter) const {
    return std::span(masses).subspan(static_cast<std::size_t>(filter * rows),
                                     static_cast<std::size_t>(rows));
  }
};

// One pass; threads 0: all cores.
MapSummaries summarise(const MapSource& source, int threads);
MapSummaries summarise(const Maps& maps, int threads);

// Share of the filters that fire on no row.
double dead_share(const MapSummaries& maps);

// Holds the caller to the shapes above.
void expect_consistent(const MapSummaries& summaries);

// The rows with the strongest peaks first; ties: the earlier of `rows` first.
std::vector<int32_t> by_strength(std::span<const float> peaks, std::span<const int64_t> rows);

}  // namespace partwise::metrics
