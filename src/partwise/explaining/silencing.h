#pragma once

#include "partwise/explaining/explanation.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/models/examples.h"

#include <nlohmann/json.hpp>

#include <string>

namespace partwise::explaining {

// What can be checked of explanations on photographs, from which no part can be taken away: parts
// are silenced inside the network, and their outlines are covered in the image.
struct SilencingCheck {
  std::string layer;
  int64_t images = 0;               // objects of the split that were decided right
  int64_t exact = 0;                // of them, explained from all coalitions
  metrics::Finding parts;           // per image
  metrics::Finding completeness;    // |sum of shares - evidence|, logits; fact: largest
  metrics::Finding additive_error;  // |distilled sum - score|, logits; control: evidence
  metrics::Finding top_moves_most;  // images where silencing the part with the largest share moves
                                    // the score most; control: a part drawn by chance
  metrics::Finding top_moves_most_additive;  // the same of the distilled sum's largest part
  metrics::Finding covered;  // score lost with the first part's outline covered, / evidence;
                             // control: the same shape elsewhere
};

struct SilencingOptions {
  int64_t images = 200;  // at the most, chosen by chance
  uint64_t seed = 1;
  metrics::BootstrapOptions bootstrap;
};

// A part book that is missing must have been provided.
SilencingCheck check_silencing(const Explainer& explainer,
                               const models::Task& task,
                               const models::Examples& examples,
                               const std::string& device,
                               const SilencingOptions& options = {});

nlohmann::json to_json(const SilencingCheck& check);
std::string silencing_text(const SilencingCheck& check);

}  // namespace partwise::explaining
