#include "partwise/metrics/score_cuts.h"

#include "partwise/base/error.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace partwise::metrics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Draws of both classes.
struct CutTally {
  double positives = 0.0;
  double negatives = 0.0;

  void add(bool positive, double count) { (positive ? positives : negatives) += count; }
  [[nodiscard]] double total() const { return positives + negatives; }
};

// What was called positive, of all.
struct Calls {
  CutTally all;
  CutTally called;

  [[nodiscard]] double accuracy() const {
    return quotient(called.positives + all.negatives - called.negatives, all.total());
  }
  [[nodiscard]] double balanced() const {
    return (quotient(called.positives, all.positives) +
            quotient(all.negatives - called.negatives, all.negatives)) /
           2.0;
  }
};

}  // namespace

ScoreCuts::ScoreCuts(std::span<const float> scores, std::span<const uint8_t> positive) {
  expects(scores.size() == positive.size(), "{} scores for {} labels", scores.size(),
          positive.size());
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int32_t row = order[i];
    const bool last = i + 1 == order.size() || scores[order[i + 1]] < scores[row];
    places_.push_back({row, positive[row] != 0, last, scores[row]});
  }
}

ScoreCuts::Numbers ScoreCuts::numbers(std::span<const int32_t> row_counts, double threshold) const {
  int64_t positives = 0;
  int64_t negatives = 0;
  int64_t positives_above = 0;  // before the present tie
  int64_t negatives_above = 0;
  int64_t gained = 0;    // right answers more than without any call, at the best cut
  int64_t won_half = 0;  // pairs a positive wins, a tie counting one of two
  Calls calls;
  for (const auto& place : places_) {
    const int64_t count = row_counts[place.row];
    const int64_t if_positive =
        -static_cast<int64_t>(place.positive);  // a mask: no branch to guess
    positives += count & if_positive;
    negatives += count & ~if_positive;
    if (!place.ends_tie) continue;
    won_half += (negatives - negatives_above) * (positives + positives_above);
    positives_above = positives;
    negatives_above = negatives;
    if (place.score > -std::numeric_limits<float>::infinity())
      gained = std::max(gained, positives - negatives);
    if (static_cast<double>(place.score) > threshold)
      calls.called = {static_cast<double>(positives), static_cast<double>(negatives)};
  }
  calls.all = {static_cast<double>(positives), static_cast<double>(negatives)};
  const bool cut = !std::isnan(threshold);
  return {quotient(static_cast<double>(negatives + gained), calls.all.total()),
          cut ? calls.accuracy() : kNaN, cut ? calls.balanced() : kNaN,
          quotient(static_cast<double>(won_half) / 2.0, calls.all.positives * calls.all.negatives)};
}

double ScoreCuts::balanced_threshold() const {
  Calls calls;
  for (const auto& place : places_) calls.all.add(place.positive, 1.0);
  double best = calls.balanced();
  if (std::isnan(best)) return kNaN;
  auto threshold = static_cast<double>(places_.front().score);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].score == -std::numeric_limits<float>::infinity()) break;
    calls.called.add(places_[i].positive, 1.0);
    if (!places_[i].ends_tie || calls.balanced() <= best) continue;
    best = calls.balanced();
    threshold = i + 1 < places_.size() ? static_cast<double>(places_[i + 1].score) : -kInfinity;
  }
  return threshold;
}

RightAnswers right_at(double threshold,
                      std::span<const float> scores,
                      std::span<const uint8_t> positive,
                      std::span<const int32_t> row_counts) {
  if (std::isnan(threshold)) return {kNaN, kNaN};
  Calls calls;
  for (std::size_t row = 0; row < scores.size(); ++row) {
    calls.all.add(positive[row] != 0, row_counts[row]);
    if (static_cast<double>(scores[row]) > threshold)
      calls.called.add(positive[row] != 0, row_counts[row]);
  }
  return {calls.accuracy(), calls.balanced()};
}

}  // namespace partwise::metrics
