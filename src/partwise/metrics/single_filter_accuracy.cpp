#include "partwise/metrics/single_filter_accuracy.h"

#include "partwise/base/error.h"
#include "partwise/base/parallel.h"
#include "partwise/metrics/score_cuts.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <utility>

namespace partwise::metrics {
namespace {

constexpr uint64_t kSingleFilterStream = 0x73696e67;

void expect_labelled(const LabelledRows& labelled, std::span<const int64_t> filter_category) {
  expect_consistent(labelled.summaries);
  expects(labelled.summaries.rows == std::ssize(labelled.category), "{} categories for {} rows",
          labelled.category.size(), labelled.summaries.rows);
  expects(labelled.summaries.filters == std::ssize(filter_category), "{} categories for {} filters",
          filter_category.size(), labelled.summaries.filters);
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

  Judge(const LabelledRows& labelled, int64_t filter, int64_t category)
      : scores(labelled.summaries.peaks_of(filter)),
        positive(rows_of(labelled.category, category)),
        cuts(scores, positive) {}
};

double majority_share(std::span<const uint8_t> positive) {
  ExistingMean mean;
  for (const uint8_t one : positive) mean.add(one);
  return std::max(mean.value(), 1.0 - mean.value());
}

double shuffled_accuracy(const Judge& judge, Random random) {
  auto labels = judge.positive;
  shuffle(labels, random);
  const std::vector<int32_t> once(labels.size(), 1);
  return ScoreCuts(judge.scores, labels).numbers(once, kNaN).best_accuracy;
}

}  // namespace

SingleFilterAccuracy single_filter_accuracy(const LabelledRows& evaluated,
                                            const LabelledRows& training,
                                            std::span<const int64_t> filter_category,
                                            const BootstrapOptions& bootstrap) {
  expect_labelled(evaluated, filter_category);
  expect_labelled(training, filter_category);
  const int64_t rows = evaluated.summaries.rows;
  const int64_t filters = evaluated.summaries.filters;
  std::vector<Judge> judges;
  judges.reserve(static_cast<std::size_t>(filters));
  for (int64_t f = 0; f < filters; ++f) judges.emplace_back(evaluated, f, filter_category[f]);
  SingleFilterAccuracy result;
  result.thresholds.resize(filter_category.size());
  std::vector<double> trained(filter_category.size());
  const std::vector<int32_t> once(static_cast<std::size_t>(training.summaries.rows), 1);
  parallel_for(filters, static_cast<int>(bootstrap.threads), [&](int64_t f) {
    const Judge judge(training, f, filter_category[f]);
    auto& threshold = result.thresholds[f];
    threshold = filter_category[f] < 0 ? kNaN : judge.cuts.balanced_threshold();
    trained[f] = right_at(threshold, judge.scores, judge.positive, once).balanced;
  });
  auto means = means_over_filters(
      4, rows, filters, bootstrap, [&](std::span<const int32_t> row_counts) -> FillNumbers {
        return [&, row_counts](int64_t f, std::span<double> numbers) {
          std::fill(numbers.begin(), numbers.end(), kNaN);
          if (filter_category[f] < 0) return;
          const auto found = judges[f].cuts.numbers(row_counts, result.thresholds[f]);
          numbers[0] = found.best_accuracy;
          numbers[1] = found.accuracy;
          numbers[2] = found.balanced;
          numbers[3] = found.auc;
        };
      });
  result.fitted = std::move(means[0]);
  result.accuracy = std::move(means[1]);
  result.balanced = std::move(means[2]);
  result.auc = std::move(means[3]);
  const double majority = mean_control(filters, bootstrap, [&](int64_t f) {
    return filter_category[f] < 0 ? kNaN : majority_share(judges[f].positive);
  });
  const double shuffled = mean_control(filters, bootstrap, [&](int64_t f) {
    if (filter_category[f] < 0) return kNaN;
    return shuffled_accuracy(judges[f], control_random(bootstrap, kSingleFilterStream, f));
  });
  result.fitted.finding.controls = {{"majority_class", majority}, {"shuffled_labels", shuffled}};
  result.accuracy.finding.controls["majority_class"] = majority;
  result.balanced.finding.controls["chance"] = 0.5;
  result.auc.finding.controls["chance"] = 0.5;
  result.fitted.finding.facts["best_filter"] = place_of_largest(result.fitted.by_filter);
  result.balanced.finding.facts["best_filter"] = place_of_largest(trained);
  return result;
}

}  // namespace partwise::metrics
