#include "partwise/atlas/peak_correlations.h"

#include "partwise/base/assignment.h"
#include "partwise/base/error.h"

#include <algorithm>
#include <cmath>

namespace partwise::atlas {
namespace {

// A filter's peaks with mean 0 and length 1; zeros where they never change.
std::vector<double> standard_peaks(const metrics::MapSummaries& layer, int64_t filter) {
  const auto peaks = layer.peaks_of(filter);
  std::vector<double> values;
  double sum = 0.0;
  for (const float peak : peaks) {
    values.push_back(peak > 0.0F ? static_cast<double>(peak) : 0.0);
    sum += values.back();
  }
  double square = 0.0;
  for (auto& value : values) {
    value -= sum / static_cast<double>(values.size());
    square += value * value;
  }
  const double length = std::sqrt(square);
  for (auto& value : values) value = length > 1e-12 ? value / length : 0.0;
  return values;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return std::clamp(sum, -1.0, 1.0);
}

std::vector<std::vector<double>> all_standard_peaks(const metrics::MapSummaries& layer) {
  std::vector<std::vector<double>> all;
  for (int64_t filter = 0; filter < layer.filters; ++filter)
    all.push_back(standard_peaks(layer, filter));
  return all;
}

}  // namespace

std::vector<Neighbour> nearest_filters(const metrics::MapSummaries& layer,
                                       int64_t filter,
                                       int64_t count) {
  const auto own = standard_peaks(layer, filter);
  std::vector<Neighbour> others;
  for (int64_t other = 0; other < layer.filters; ++other) {
    if (other != filter) others.push_back({other, product(own, standard_peaks(layer, other))});
  }
  std::stable_sort(others.begin(), others.end(), [](const Neighbour& a, const Neighbour& b) {
    return a.correlation > b.correlation;
  });
  others.resize(std::min(others.size(), static_cast<std::size_t>(count)));
  return others;
}

std::vector<Match> matched_filters(const metrics::MapSummaries& first,
                                   const metrics::MapSummaries& second) {
  expects(first.rows == second.rows, "{} rows and {}", first.rows, second.rows);
  if (first.filters > second.filters) {
    auto turned = matched_filters(second, first);
    for (auto& match : turned) std::swap(match.first, match.second);
    std::sort(turned.begin(), turned.end(),
              [](const Match& a, const Match& b) { return a.first < b.first; });
    return turned;
  }
  const auto rows = all_standard_peaks(first);
  const auto columns = all_standard_peaks(second);
  std::vector<double> costs;
  for (const auto& row : rows) {
    for (const auto& column : columns) costs.push_back(-product(row, column));
  }
  const auto partner = cheapest_assignment(costs, first.filters, second.filters);
  std::vector<Match> matches;
  for (int64_t filter = 0; filter < first.filters; ++filter) {
    const int64_t other = partner[static_cast<std::size_t>(filter)];
    matches.push_back(
        {filter, other, -costs[static_cast<std::size_t>(filter * second.filters + other)]});
  }
  return matches;
}

}  // namespace partwise::atlas
