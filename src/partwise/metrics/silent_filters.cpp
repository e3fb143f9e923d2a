#include "partwise/metrics/silent_filters.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace partwise::metrics {
namespace {

// Of each filter all rows, the strongest peak first.
std::vector<std::vector<int32_t>> rows_by_strength(const MapSummaries& maps, int threads) {
  std::vector<int64_t> rows(static_cast<std::size_t>(maps.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  std::vector<std::vector<int32_t>> order(static_cast<std::size_t>(maps.filters));
  parallel_for(maps.filters, threads,
               [&](int64_t f) { order[f] = by_strength(maps.peaks_of(f), rows); });
  return order;
}

double loudness_of(std::span<const float> peaks,
                   const std::vector<int32_t>& order,
                   std::span<const int32_t> row_counts) {
  const int64_t wanted = std::max<int64_t>(std::ssize(peaks) / 6, 1);
  double sum = 0.0;
  int64_t taken = 0;
  for (const int32_t row : order) {
    const int64_t times = std::min<int64_t>(row_counts[row], wanted - taken);
    if (times > 0 && peaks[row] > 0.0F)
      sum += static_cast<double>(peaks[row]) * static_cast<double>(times);
    taken += times;
    if (taken == wanted) break;
  }
  return sum / static_cast<double>(wanted);
}

double activation_of(std::span<const double> masses, std::span<const int32_t> row_counts) {
  double sum = 0.0;
  for (std::size_t row = 0; row < masses.size(); ++row) sum += row_counts[row] * masses[row];
  return sum;
}

double share_of_silent(std::span<const double> loudness, std::span<const int32_t> filter_counts) {
  std::vector<double> drawn;
  for (std::size_t f = 0; f < loudness.size(); ++f)
    drawn.insert(drawn.end(), static_cast<std::size_t>(filter_counts[f]), loudness[f]);
  if (drawn.empty()) return kNaN;
  const double level = silent_level(drawn);
  const auto silent = std::count_if(drawn.begin(), drawn.end(),
                                    [&](double loud) { return !(loud > 0.0) || loud < level; });
  return static_cast<double>(silent) / static_cast<double>(drawn.size());
}

double effective_number(std::span<const double> activation,
                        std::span<const int32_t> filter_counts) {
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t f = 0; f < activation.size(); ++f) {
    sum += filter_counts[f] * activation[f];
    squares += filter_counts[f] * activation[f] * activation[f];
  }
  return squares > 0.0 ? sum * sum / squares : 0.0;
}

}  // namespace

double silent_level(std::vector<double> loudness) {
  if (loudness.empty()) return 0.0;
  std::sort(loudness.begin(), loudness.end(), std::greater<>());
  const auto strongest = std::max<std::size_t>(loudness.size() / 4, 1);
  return kSilentBelow * ((loudness[(strongest - 1) / 2] + loudness[strongest / 2]) / 2.0);
}

SilentFilters silent_filters(const MapSummaries& maps, const BootstrapOptions& bootstrap) {
  expect_consistent(maps);
  const int threads = static_cast<int>(bootstrap.threads);
  SilentFilters found;
  found.loudness.resize(static_cast<std::size_t>(maps.filters));
  if (maps.rows == 0 || maps.filters == 0) {
    found.silent_share = found.effective_filters = {kNaN, kNaN, kNaN, {}, {}};
    return found;
  }
  const auto order = rows_by_strength(maps, threads);
  const auto fill = [&](std::span<const int32_t> row_counts, std::span<double> loudness,
                        std::span<double> activation) {
    for (int64_t f = 0; f < maps.filters; ++f) {
      loudness[f] = loudness_of(maps.peaks_of(f), order[f], row_counts);
      activation[f] = activation_of(maps.masses_of(f), row_counts);
    }
  };
  const std::vector<int32_t> row_once(static_cast<std::size_t>(maps.rows), 1);
  const std::vector<int32_t> filter_once(static_cast<std::size_t>(maps.filters), 1);
  std::vector<double> activation(found.loudness.size());
  fill(row_once, found.loudness, activation);
  const double silent = share_of_silent(found.loudness, filter_once);
  const double effective = effective_number(activation, filter_once);

  const auto both = [&](std::span<const Resample> draws, std::span<double> numbers) {
    std::vector<double> drawn_loudness(found.loudness.size());
    std::vector<double> drawn_activation(activation.size());
    fill(draws.front().rows, drawn_loudness, drawn_activation);
    for (std::size_t d = 0; d < draws.size(); ++d) {
      numbers[2 * d] = share_of_silent(drawn_loudness, draws[d].filters);
      numbers[2 * d + 1] = effective_number(drawn_activation, draws[d].filters);
    }
  };
  auto drawn = resampled_together(2, maps.rows, maps.filters, bootstrap, both);
  const auto all = static_cast<double>(maps.filters);
  found.silent_share =
      finding_within(silent, centred_interval(silent, std::move(drawn[0])), 0.0, 1.0);
  found.effective_filters =
      finding_within(effective, centred_interval(effective, std::move(drawn[1])), 0.0, all);
  return found;
}

}  // namespace partwise::metrics
