#include "partwise/metrics/accuracy.h"

#include "partwise/base/error.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <vector>

namespace partwise::metrics {
namespace {

std::vector<uint8_t> right_rows(std::span<const float> scores,
                                int64_t classes,
                                std::span<const int64_t> labels) {
  expects(classes > 0, "{} classes cannot be told apart", classes);
  const auto width = static_cast<std::size_t>(classes);
  expects(scores.size() == labels.size() * width, "{} scores for {} rows of {} classes",
          scores.size(), labels.size(), classes);
  std::vector<uint8_t> right(labels.size());
  for (std::size_t row = 0; row < labels.size(); ++row) {
    expects(labels[row] >= 0 && labels[row] < classes, "row {}: no class {}", row, labels[row]);
    right[row] = peak(scores.subspan(row * width, width)).cell == labels[row] ? 1 : 0;
  }
  return right;
}

template <typename Number>
double row_mean(const std::vector<Number>& numbers, std::span<const int32_t> counts) {
  ExistingMean mean;
  for (std::size_t row = 0; row < numbers.size(); ++row) mean.add(numbers[row], counts[row]);
  return mean.value();
}

double balanced_share(std::span<const uint8_t> right,
                      std::span<const int64_t> labels,
                      int64_t classes,
                      std::span<const int32_t> counts) {
  std::vector<ExistingMean> recall(static_cast<std::size_t>(classes));
  for (std::size_t row = 0; row < right.size(); ++row)
    recall[labels[row]].add(right[row], counts[row]);
  ExistingMean mean;
  for (const auto& of_class : recall) mean.add(of_class.value());
  return mean.value();
}

double majority_share(std::span<const int64_t> labels, int64_t classes) {
  if (labels.empty()) return kNaN;
  std::vector<int64_t> counts(static_cast<std::size_t>(classes));
  for (const int64_t label : labels) ++counts[label];
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) /
         static_cast<double>(labels.size());
}

}  // namespace

Finding accuracy(std::span<const float> scores,
                 int64_t classes,
                 std::span<const int64_t> labels,
                 const BootstrapOptions& options) {
  const auto right = right_rows(scores, classes, labels);
  auto finding = finding_of_rows(std::ssize(labels), options, [&](std::span<const int32_t> counts) {
    return row_mean(right, counts);
  });
  finding.controls["majority_class"] = majority_share(labels, classes);
  finding.controls["chance"] = 1.0 / static_cast<double>(classes);
  return finding;
}

Finding balanced_accuracy(std::span<const float> scores,
                          int64_t classes,
                          std::span<const int64_t> labels,
                          const BootstrapOptions& options) {
  const auto right = right_rows(scores, classes, labels);
  auto finding = finding_of_rows(std::ssize(labels), options, [&](std::span<const int32_t> counts) {
    return balanced_share(right, labels, classes, counts);
  });
  finding.controls["chance"] = 1.0 / static_cast<double>(classes);
  return finding;
}

Finding output_accuracy(std::span<const float> logits,
                        int64_t outputs,
                        std::span<const int64_t> labels,
                        const BootstrapOptions& options) {
  expects(outputs > 0 && logits.size() == labels.size() * static_cast<std::size_t>(outputs),
          "{} logits for {} rows of {} outputs", logits.size(), labels.size(), outputs);
  std::vector<double> share;  // of each row's answers that are right
  ExistingMean no;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    int64_t right = 0;
    for (int64_t output = 0; output < outputs; ++output) {
      const bool yes = logits[row * static_cast<std::size_t>(outputs) + output] > 0.0F;
      right += yes == (labels[row] == output) ? 1 : 0;
    }
    share.push_back(static_cast<double>(right) / static_cast<double>(outputs));
    no.add(labels[row] < 0 ? 1.0 : 1.0 - 1.0 / static_cast<double>(outputs));
  }
  auto finding = finding_of_rows(std::ssize(labels), options, [&](std::span<const int32_t> counts) {
    return row_mean(share, counts);
  });
  finding.controls["always_no"] = no.value();
  return finding;
}

}  // namespace partwise::metrics
