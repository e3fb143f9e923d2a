#include "partwise/metrics/map_summaries.h"

#include "partwise/base/error.h"
#include "partwise/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace partwise::metrics {
namespace {

// Pixel i covers [i - 1/2, i + 1/2].
double inside(double x, double half, double side) {
  const double low = half - 0.5;
  const double high = side - 0.5 - half;
  return low < high ? std::clamp(x, low, high) : (side - 1.0) / 2.0;
}

}  // namespace

MapSummaries summarise(const MapSource& source, int threads) {
  MapSummaries summaries{source.rows, source.filters, source.side, {}, {}, {}};
  const auto count = static_cast<std::size_t>(source.rows * source.filters);
  summaries.cells.resize(count);
  summaries.peaks.resize(count);
  summaries.masses.resize(count);
  for_each_batch(source, [&](const Maps& batch, int64_t first_row) {
    parallel_for(batch.rows, threads, [&](int64_t row) {
      for (int64_t filter = 0; filter < batch.filters; ++filter) {
        const auto map = batch.map(row, filter);
        const auto found = peak(map);
        double sum = 0.0;
        for (const float value : map) sum += mass(value);
        const int64_t place = filter * source.rows + first_row + row;
        summaries.cells[place] = static_cast<int32_t>(found.cell);
        summaries.peaks[place] = found.value;
        summaries.masses[place] = sum;
      }
    });
  });
  return summaries;
}

MapSummaries summarise(const Maps& maps, int threads) {
  return summarise(source_of(maps, std::max<int64_t>(maps.rows, 1)), threads);
}

double dead_share(const MapSummaries& maps) {
  int64_t dead = 0;
  for (int64_t filter = 0; filter < maps.filters; ++filter) {
    const auto peaks = maps.peaks_of(filter);
    const bool fires = std::any_of(peaks.begin(), peaks.end(), [](float peak) { return peak > 0; });
    dead += fires ? 0 : 1;
  }
  return static_cast<double>(dead) / static_cast<double>(std::max<int64_t>(maps.filters, 1));
}

void expect_consistent(const MapSummaries& summaries) {
  const auto wanted = static_cast<std::size_t>(summaries.rows * summaries.filters);
  expects(summaries.cells.size() == wanted && summaries.peaks.size() == wanted &&
              summaries.masses.size() == wanted,
          "{} cells, {} peaks, {} masses for {} filters and {} rows", summaries.cells.size(),
          summaries.peaks.size(), summaries.masses.size(), summaries.filters, summaries.rows);
}

std::vector<int32_t> by_strength(std::span<const float> peaks, std::span<const int64_t> rows) {
  std::vector<int32_t> order(rows.begin(), rows.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return peaks[a] > peaks[b]; });
  return order;
}

std::vector<int64_t> strongest_category(const MapSummaries& maps,
                                        std::span<const int64_t> row_category,
                                        int64_t categories) {
  expect_consistent(maps);
  expects(std::ssize(row_category) == maps.rows, "{} categories for {} rows", row_category.size(),
          maps.rows);
  expects(categories > 0, "filters cannot be assigned to {} categories", categories);
  std::vector<double> counts(static_cast<std::size_t>(categories));
  for (int64_t row = 0; row < maps.rows; ++row) {
    expects(row_category[row] < categories, "row {}: no category {}", row, row_category[row]);
    if (row_category[row] >= 0) counts[row_category[row]] += 1.0;
  }
  std::vector<int64_t> strongest(static_cast<std::size_t>(maps.filters));
  for (int64_t filter = 0; filter < maps.filters; ++filter) {
    std::vector<double> sums(counts.size());
    for (int64_t row = 0; row < maps.rows; ++row) {
      if (row_category[row] >= 0) sums[row_category[row]] += maps.masses_of(filter)[row];
    }
    double best = 0.0;
    for (int64_t category = 0; category < categories; ++category) {
      const double mean = sums[category] / std::max(counts[category], 1.0);
      if (mean <= best) continue;
      best = mean;
      strongest[filter] = category;
    }
  }
  return strongest;
}

bool box_holds(Point centre, double half, std::span<const Point> points) {
  return std::any_of(points.begin(), points.end(), [&](Point point) {
    return std::abs(point.x - centre.x) <= half && std::abs(point.y - centre.y) <= half;
  });
}

Point peak_centre(const MapSummaries& maps, const UnitGrid& grid, int64_t filter, int64_t row) {
  const int64_t cell = maps.cells_of(filter)[row];
  return grid.centre(cell / maps.side, cell % maps.side);
}

Point picture_centre(int64_t side) {
  const double middle = static_cast<double>(side - 1) / 2.0;
  return {middle, middle};
}

Point pushed_inside(Point centre, double half, int64_t side) {
  return {inside(centre.x, half, static_cast<double>(side)),
          inside(centre.y, half, static_cast<double>(side))};
}

}  // namespace partwise::metrics
