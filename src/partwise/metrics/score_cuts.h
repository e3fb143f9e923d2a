#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

// Rows ranked by a score that is to tell positives from negatives; "score > T" says positive. A
// score of -inf (a map of nothing but NaN) is never called positive. Numbers take how often each
// row counts.
class ScoreCuts {
 public:
  // scores [rows] without NaN; positive [rows], 0 or 1
  ScoreCuts(std::span<const float> scores, std::span<const uint8_t> positive);

  struct Numbers {
    double best_accuracy = 0.0;  // at the best of all thresholds; NaN without rows
    double accuracy = 0.0;       // at the given one; right_at says where these two are NaN
    double balanced = 0.0;
    double auc = 0.0;  // P(score of a positive > score of a negative) + P(equal) / 2; NaN where a
                       // class is missing
  };
  // All of them in one look at the rows. Draws are counted in whole numbers, so they are exact.
  [[nodiscard]] Numbers numbers(std::span<const int32_t> row_counts, double threshold) const;

  // The threshold of the highest balanced accuracy, every row counted once, as the highest score
  // called negative (-inf if there is none); ties: the highest threshold. NaN where a class is
  // missing.
  [[nodiscard]] double balanced_threshold() const;

 private:
  struct Place {
    int32_t row = 0;
    bool positive = false;
    bool ends_tie = false;  // the next score is lower
    float score = 0.0F;
  };
  std::vector<Place> places_;  // the highest score first
};

// Right at a threshold; NaN if the threshold is NaN, without rows, and where a class is missing.
struct RightAnswers {
  double share = 0.0;     // of rows
  double balanced = 0.0;  // mean of the two recalls
};
RightAnswers right_at(double threshold,
                      std::span<const float> scores,
                      std::span<const uint8_t> positive,
                      std::span<const int32_t> row_counts);

}  // namespace partwise::metrics
