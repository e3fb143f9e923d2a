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

constexpr uint64_t kControlStream = 0x73696e67;

void expect_labelled(const LabelledMaps& labelled, std::span<const int64_t> filter_category) {
  expect_consistent(labelled.maps);
  expects(labelled.maps.rows == std::ssize(labelled.row_category), "{} categories for {} rows",
          labelled.row_category.size(), labelled.maps.rows);
  expects(labelled.maps.filters == std::ssize(filter_category), "{} categories for {} filters",
          filter_category.size(), labelled.maps.filters);
}

std::vector<uint8_t> rows_of(std::span<const int64_t> row_category, int64_t category) {
  std::vector<uint8_t> positive;
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
  for (int64_t f = 0; f < filters; ++f) judges.emplace_back(evaluated, f, filter_category[f]);
  const std::vector<int32_t> train_once(static_cast<std::size_t>(training.maps.rows), 1);

  SingleFilterAccuracy result;
  result.filters.resize(static_cast<std::size_t>(filters));
  parallel_for(filters, static_cast<int>(bootstrap.threads), [&](int64_t f) {
    const Judge trained(training, f, filter_category[f]);
    result.filters[f].threshold = trained.cuts.balanced_threshold();
    result.filters[f].trained = balanced_accuracy_at(result.filters[f].threshold, trained.scores,
                                                     trained.positive, train_once);
  });
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

  const std::vector<int32_t> once(static_cast<std::size_t>(rows), 1);
  const double majority = mean_control(filters, bootstrap, [&](int64_t f) {
    return filter_category[f] < 0 ? kNaN : majority_share(judges[f].positive);
  });
  result.fitted.controls["majority_class"] = majority;
  result.fitted.controls["shuffled_labels"] = mean_control(filters, bootstrap, [&](int64_t f) {
    if (filter_category[f] < 0) return kNaN;
    auto labels = judges[f].positive;
    auto random = control_random(bootstrap, kControlStream, f);
    shuffle(labels, random);
    return ScoreCuts(judges[f].scores, labels).best_accuracy(once);
  });
  result.accuracy.controls["majority_class"] = majority;
  result.balanced.controls["chance"] = 0.5;
  result.auc.controls["chance"] = 0.5;
  result.best_fitted = best_filter(result.filters, &FilterAccuracy::fitted);
  result.best_trained = best_filter(result.filters, &FilterAccuracy::trained);
  return result;
}

}  // namespace partwise::metrics
