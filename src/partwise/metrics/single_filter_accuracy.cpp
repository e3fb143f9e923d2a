#include "partwise/metrics/single_filter_accuracy.h"

#include "partwise/base/error.h"
#include "partwise/base/parallel.h"
#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/score_cuts.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cmath>

namespace partwise::metrics {
namespace {

constexpr uint64_t kSingleFilterStream = 0x73696e67;

void expect_labelled(const LabelledMaps& labelled, std::span<const int64_t> filter_category) {
  expect_consistent(labelled.maps);
  expects(labelled.maps.rows == std::ssize(labelled.row_category), "{} categories for {} rows",
          labelled.row_category.size(), labelled.maps.rows);
  expects(labelled.maps.filters == std::ssize(filter_category), "{} categories for {} filters",
          filter_category.size(), labelled.maps.filters);
}

std::vector<uint8_t> rows_of(std::span<const int64_t> row_category, int64_t category) {
  std::vector<uint8_t> positive;
  positive.reserve(row_category.size());
  for (const int64_t shown : row_category) positive.push_back(shown == category ? 1 : 0);
  return positive;
}

// One filter as a classifier of its category.
struct Judge {
  std::span<const float> scores;
  std::vector<uint8_t> positive;
  ScoreCuts cuts;

  Judge(const LabelledMaps& labelled, int64_t filter, int64_t category)
      : scores(labelled.maps.peaks_of(filter)),
        positive(rows_of(labelled.row_category, category)),
        cuts(scores, positive) {}
};

double majority_share(std::span<const uint8_t> positive) {
  ExistingMean mean;
  for (const uint8_t one : positive) mean.add(one);
  return std::max(mean.value(), 1.0 - mean.value());
}

template <typename Member>
int64_t best_filter(std::span<const FilterAccuracy> filters, Member member) {
  int64_t best = -1;
  for (int64_t f = 0; f < std::ssize(filters); ++f) {
    const double value = filters[f].*member;
    if (std::isnan(value) || (best >= 0 && value <= filters[best].*member)) continue;
    best = f;
  }
  return best;
}

// Thresholds, and what they are worth on the training rows.
std::vector<FilterAccuracy> trained_filters(const LabelledMaps& training,
                                            std::span<const int64_t> filter_category,
                                            const BootstrapOptions& bootstrap) {
  const std::vector<int32_t> once(static_cast<std::size_t>(training.maps.rows), 1);
  std::vector<FilterAccuracy> filters(filter_category.size());
  parallel_for(std::ssize(filters), static_cast<int>(bootstrap.threads), [&](int64_t f) {
    const Judge judge(training, f, filter_category[f]);
    auto& filter = filters[f];
    filter.threshold = filter_category[f] < 0 ? kNaN : judge.cuts.balanced_threshold();
    filter.trained = balanced_accuracy_at(filter.threshold, judge.scores, judge.positive, once);
  });
  return filters;
}

double shuffled_accuracy(const Judge& judge, Random random) {
  auto labels = judge.positive;
  shuffle(labels, random);
  const std::vector<int32_t> once(labels.size(), 1);
  return ScoreCuts(judge.scores, labels).best_accuracy(once);
}

}  // namespace

SingleFilterAccuracy single_filter_accuracy(const LabelledMaps& evaluated,
                                            const LabelledMaps& training,
                                            std::span<const int64_t> filter_category,
                                            const BootstrapOptions& bootstrap) {
  expect_labelled(evaluated, filter_category);
  expect_labelled(training, filter_category);
  const int64_t rows = evaluated.maps.rows;
  const int64_t filters = evaluated.maps.filters;
  std::vector<Judge> judges;
  judges.reserve(static_cast<std::size_t>(filters));
  for (int64_t f = 0; f < filters; ++f) judges.emplace_back(evaluated, f, filter_category[f]);
  SingleFilterAccuracy result;
  result.filters = trained_filters(training, filter_category, bootstrap);
  const auto measure = [&](double FilterAccuracy::*member, const auto& number) {
    const auto mean = mean_over_filters(
        rows, filters, bootstrap, [&](int64_t f, std::span<const int32_t> row_counts) {
          return filter_category[f] < 0 ? kNaN : number(f, row_counts);
        });
    for (int64_t f = 0; f < filters; ++f) result.filters[f].*member = mean.by_filter[f];
    return mean.finding;
  };
  result.fitted =
      measure(&FilterAccuracy::fitted, [&](int64_t f, std::span<const int32_t> row_counts) {
        return judges[f].cuts.best_accuracy(row_counts);
      });
  result.accuracy =
      measure(&FilterAccuracy::accuracy, [&](int64_t f, std::span<const int32_t> row_counts) {
        return accuracy_at(result.filters[f].threshold, judges[f].scores, judges[f].positive,
                           row_counts);
      });
  result.balanced =
      measure(&FilterAccuracy::balanced, [&](int64_t f, std::span<const int32_t> row_counts) {
        return balanced_accuracy_at(result.filters[f].threshold, judges[f].scores,
                                    judges[f].positive, row_counts);
      });
  result.auc = measure(&FilterAccuracy::auc, [&](int64_t f, std::span<const int32_t> row_counts) {
    return judges[f].cuts.auc(row_counts);
  });

  const double majority = mean_control(filters, bootstrap, [&](int64_t f) {
    return filter_category[f] < 0 ? kNaN : majority_share(judges[f].positive);
  });
  result.fitted.controls["majority_class"] = majority;
  result.fitted.controls["shuffled_labels"] = mean_control(filters, bootstrap, [&](int64_t f) {
    if (filter_category[f] < 0) return kNaN;
    return shuffled_accuracy(judges[f], control_random(bootstrap, kSingleFilterStream, f));
  });
  result.accuracy.controls["majority_class"] = majority;
  result.balanced.controls["chance"] = 0.5;
  result.auc.controls["chance"] = 0.5;
  result.best_fitted = best_filter(result.filters, &FilterAccuracy::fitted);
  result.best_trained = best_filter(result.filters, &FilterAccuracy::trained);
  return result;
}

}  // namespace partwise::metrics
