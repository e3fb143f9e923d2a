#pragma once

#include "partwise/explaining/explanation.h"
#include "partwise/models/decisions.h"
#include "partwise/models/examples.h"

#include <cstdint>
#include <string>
#include <vector>

namespace partwise::explaining {

// One object that was decided wrong, explained for the wrong class against the right one.
struct Mistake {
  int64_t row = 0;  // of the examples
  Explanation explanation;
};

// How one part spoke in a confused pair.
struct PartInPair {
  std::string name;
  double contrast =
      0.0;           // mean over the mistakes: what it gave the wrong class above the right one
  double low = 0.0;  // 95 % interval of that mean, drawn over the mistakes; NaN for a single one
  double high = 0.0;
  double usual = 0.0;    // the same over objects of the true class that were decided right: control
  double leading = 0.0;  // share of the mistakes in which no part spoke more for the wrong class
  int64_t present = 0;   // mistakes in which it fired
};

// Objects of one class taken for another.
struct ConfusedPair {
  std::string truth;
  std::string decided;
  int64_t of = 0;  // objects of the true class
  std::vector<Mistake> mistakes;
  std::vector<PartInPair> parts;  // the largest contrast first
};

struct ConfusionOptions {
  int64_t controls = 24;   // objects of each true class, decided right, that the control looks at
  int64_t mistakes = 200;  // of one pair that are explained, at the most; the first in order
  uint64_t seed = 1;
};

// One of them. truth, decided: classes, which may be the same; decisions: on the examples
ConfusedPair confused_pair(const Explainer& explainer,
                           const models::Examples& examples,
                           const models::Decisions& decisions,
                           int64_t truth,
                           int64_t decided,
                           const ConfusionOptions& options = {});

// Every confused pair, the most frequent first.
std::vector<ConfusedPair> confused_pairs(const Explainer& explainer,
                                         const models::Task& task,
                                         const models::Examples& examples,
                                         const std::string& device,
                                         const ConfusionOptions& options = {});

nlohmann::json to_json(const ConfusedPair& pair);

}  // namespace partwise::explaining
