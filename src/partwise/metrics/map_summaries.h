#pragma once

#include "partwise/base/geometry.h"
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

  [[nodiscard]] auto cells_of(int64_t filter) const { return rows_of(cells, filter); }
  [[nodiscard]] auto peaks_of(int64_t filter) const { return rows_of(peaks, filter); }
  [[nodiscard]] auto masses_of(int64_t filter) const { return rows_of(masses, filter); }

 private:
  template <typename T>
  [[nodiscard]] std::span<const T> rows_of(const std::vector<T>& all, int64_t filter) const {
    return std::span(all).subspan(static_cast<std::size_t>(filter * rows),
                                  static_cast<std::size_t>(rows));
  }
};

// Summaries of some rows, and what the rows show: index into the task's categories, -1: nothing the
// network knows.
struct LabelledRows {
  MapSummaries summaries;
  std::vector<int64_t> category;  // [rows]
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

// argmax_c E_{rows of c} sum_ij x_ij, per filter (paper, "Determining the target category for each
// filter"); to be fed with training rows. row_category [rows], -1: row belongs to no category; a
// filter that never fires gets category 0. Ties: the first category.
std::vector<int64_t> strongest_category(const MapSummaries& maps,
                                        std::span<const int64_t> row_category,
                                        int64_t categories);

// Whether the square of half side `half` about `centre` holds one of the points, its rim included.
bool box_holds(Point centre, double half, std::span<const Point> points);

// Where a map peaks, in pixels of the input: the unit centre of its strongest cell.
Point peak_centre(const MapSummaries& maps, const UnitGrid& grid, int64_t filter, int64_t row);

// The centre of a square picture, and the point nearest to `centre` about which a square of half
// side `half` lies inside it.
Point picture_centre(int64_t side);
Point pushed_inside(Point centre, double half, int64_t side);

}  // namespace partwise::metrics
