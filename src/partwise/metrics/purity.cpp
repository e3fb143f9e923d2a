#include "partwise/metrics/purity.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace partwise::metrics {
namespace {

// Activation of one map.
struct Share {
  double total = 0.0;
  double near_peak = 0.0;     // where the template of its peak is positive
  double if_even = 0.0;       // the same, were the total spread evenly
  double if_scattered = 0.0;  // the same, expected were all values but the peak's in random cells
};

// For every peak, the cells where its template is positive.
std::vector<std::vector<int64_t>> neighbourhoods(int64_t side) {
  const int64_t cells = side * side;
  std::vector<std::vector<int64_t>> near(static_cast<std::size_t>(cells));
  for (int64_t peak = 0; peak < cells; ++peak) {
    for (int64_t cell = 0; cell < cells; ++cell) {
      const int64_t distance =
          std::abs(cell / side - peak / side) + std::abs(cell % side - peak % side);
      if (static_cast<double>(distance) * kPurityBeta < static_cast<double>(side))
        near[peak].push_back(cell);
    }
  }
  return near;
}

Share share_of(std::span<const float> map, const std::vector<std::vector<int64_t>>& near) {
  Share share;
  for (const float value : map) share.total += mass(value);
  const auto highest = peak(map);
  const auto& cells = near[highest.cell];
  for (const int64_t cell : cells) share.near_peak += mass(map[cell]);
  const auto support = static_cast<double>(cells.size());
  const auto all = static_cast<double>(map.size());
  const double peak_mass = mass(highest.value);
  share.if_even = share.total * support / all;
  share.if_scattered =
      peak_mass + (share.total - peak_mass) * (support - 1.0) / std::max(all - 1.0, 1.0);
  return share;
}

// [rows, filters]
std::vector<Share> all_shares(const MapSource& maps, int threads) {
  const auto near = neighbourhoods(maps.side);
  std::vector<Share> shares(static_cast<std::size_t>(maps.rows * maps.filters));
  for_each_batch(maps, [&](const Maps& batch, int64_t first_row) {
    parallel_for(batch.rows, threads, [&](int64_t row) {
      for (int64_t filter = 0; filter < maps.filters; ++filter)
        shares[(first_row + row) * maps.filters + filter] = share_of(batch.map(row, filter), near);
    });
  });
  return shares;
}

struct Purity {
  double value = 0.0;
  double if_even = 0.0;
  double if_scattered = 0.0;
  double silent_rows = 0.0;  // share
};

Purity purity_of(std::span<const Share> shares, std::size_t rows) {
  ExistingMean value;
  ExistingMean if_even;
  ExistingMean if_scattered;
  ExistingMean silent;
  for (std::size_t row = 0; row < rows; ++row) {
    Share sum;
    for (const auto& share : shares.subspan(row * (shares.size() / rows), shares.size() / rows)) {
      sum.total += share.total;
      sum.near_peak += share.near_peak;
      sum.if_even += share.if_even;
      sum.if_scattered += share.if_scattered;
    }
    silent.add(sum.total == 0.0 ? 1.0 : 0.0);
    if (sum.total == 0.0) continue;
    value.add(sum.near_peak / sum.total);
    if_even.add(sum.if_even / sum.total);
    if_scattered.add(sum.if_scattered / sum.total);
  }
  return {value.value(), if_even.value(), if_scattered.value(), silent.value()};
}

// The value alone, of both draws of filters in one look at the shares.
void drawn_purity(std::span<const Share> shares,
                  std::span<const Resample> draws,
                  std::span<double> numbers) {
  const auto own = draws.front().filters;
  const auto partner = draws.back().filters;
  const auto row_counts = draws.front().rows;
  std::vector<ExistingMean> value(2);
  for (std::size_t row = 0; row < row_counts.size(); ++row) {
    if (row_counts[row] == 0) continue;
    double total[2] = {};
    double near_peak[2] = {};
    for (std::size_t filter = 0; filter < own.size(); ++filter) {
      const auto& share = shares[row * own.size() + filter];
      total[0] += own[filter] * share.total;
      near_peak[0] += own[filter] * share.near_peak;
      total[1] += partner[filter] * share.total;
      near_peak[1] += partner[filter] * share.near_peak;
    }
    for (std::size_t d = 0; d < 2; ++d) {
      if (total[d] != 0.0) value[d].add(near_peak[d] / total[d], row_counts[row]);
    }
  }
  for (std::size_t d = 0; d < draws.size(); ++d) numbers[d] = value[d].value();
}

}  // namespace

Finding purity(const MapSource& maps, const BootstrapOptions& options) {
  const auto shares = all_shares(maps, static_cast<int>(options.threads));
  const auto full = purity_of(shares, static_cast<std::size_t>(maps.rows));
  const auto drawn = [&](std::span<const Resample> draws, std::span<double> numbers) {
    drawn_purity(shares, draws, numbers);
  };
  auto finding = finding_within(
      full.value, percentile_interval(std::move(
                      resampled_together(1, maps.rows, maps.filters, options, drawn).front())));
  finding.controls = {{"uniform_map", full.if_even}, {"scattered", full.if_scattered}};
  if (full.silent_rows > 0.0) finding.facts["silent_rows"] = full.silent_rows;
  return finding;
}

}  // namespace partwise::metrics
