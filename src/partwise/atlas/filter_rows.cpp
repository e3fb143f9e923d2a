#include "partwise/atlas/filter_rows.h"

#include "partwise/metrics/map_summaries.h"

#include <algorithm>

namespace partwise::atlas {
namespace {

bool is_own(const FilterRows& filter, std::size_t row) {
  return filter.category < 0 || filter.row_category[row] == filter.category;
}

// Those it fires on, the strongest first.
std::vector<int64_t> firing_rows(const FilterRows& filter, bool own) {
  std::vector<int64_t> rows;
  for (std::size_t row = 0; row < filter.peaks.size(); ++row) {
    if (is_own(filter, row) == own && filter.peaks[row] > 0.0F)
      rows.push_back(static_cast<int64_t>(row));
  }
  const auto order = metrics::by_strength(filter.peaks, rows);
  return {order.begin(), order.end()};
}

}  // namespace

Bands bands_of(const FilterRows& filter, int64_t count) {
  const auto own = firing_rows(filter, true);
  auto wrong = firing_rows(filter, false);
  const auto all = std::ssize(own);
  const int64_t strong = std::min(count, all);
  const int64_t weak_from = std::max(strong, all - count);
  const int64_t middle_from = std::clamp((all - count) / 2, strong, weak_from);
  const int64_t middle_to = std::min(middle_from + count, weak_from);
  const auto part = [&](int64_t from, int64_t to) {
    return std::vector<int64_t>(own.begin() + from, own.begin() + to);
  };
  wrong.resize(std::min(wrong.size(), static_cast<std::size_t>(count)));
  return {part(0, strong), part(middle_from, middle_to), part(weak_from, all), std::move(wrong)};
}

Histogram histogram_of(const FilterRows& filter, int64_t bins) {
  double highest = 0.0;
  for (const float peak : filter.peaks) highest = std::max(highest, static_cast<double>(peak));
  const auto count = static_cast<std::size_t>(bins);
  Histogram histogram{{}, std::vector<int64_t>(count), std::vector<int64_t>(count)};
  for (int64_t edge = 0; edge <= bins; ++edge)
    histogram.edges.push_back(highest * static_cast<double>(edge) / static_cast<double>(bins));
  for (std::size_t row = 0; row < filter.peaks.size(); ++row) {
    const double peak = filter.peaks[row] > 0.0F ? static_cast<double>(filter.peaks[row]) : 0.0;
    const double share = highest > 0.0 ? peak / highest : 0.0;
    const auto bin =
        std::min(static_cast<std::size_t>(share * static_cast<double>(bins)), count - 1);
    ++(is_own(filter, row) ? histogram.own : histogram.others)[bin];
  }
  return histogram;
}

int64_t strongest_row(const FilterRows& filter) {
  for (const bool own : {true, false}) {
    const auto rows = firing_rows(filter, own);
    if (!rows.empty()) return rows.front();
  }
  return -1;
}

}  // namespace partwise::atlas
