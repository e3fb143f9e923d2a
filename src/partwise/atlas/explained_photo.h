#pragma once

#include "partwise/atlas/run_atlas.h"
#include "partwise/explaining/explanation.h"
#include "partwise/images/image.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partwise::atlas {

// One photograph whose decision was explained, kept so that its parts can be switched off.
struct ExplainedPhoto {
  explaining::Explanation explanation;
  Tensor features;    // [1, filter, k, k]: what the fully connected layers were given
  int64_t width = 0;  // of the photograph
  int64_t height = 0;
  std::string png;  // the photograph, made smaller where it is large
};

// The whole photograph where there is no box.
ExplainedPhoto explain_photo(const RunAtlas& atlas,
                             const images::Image& photo,
                             const std::optional<Box>& box,
                             const std::string& against);

// What was switched off.
struct Silence {
  std::vector<std::string> parts;  // by their labels in the explanation
  std::vector<int64_t> filters;    // beside those of the parts
};

// What that changes of the score the shares add up to, as it was said and as it is.
struct Silenced {
  double predicted = 0.0;          // by the shares
  std::optional<double> additive;  // by the distilled sum
  double actual = 0.0;             // by the network: the layers behind run again
  double score = 0.0;              // that is left
  std::string decision;
  double probability = 0.0;
  std::vector<double> probabilities;  // [class]
};

// An Error names a part or filter that the explanation does not know.
Silenced silence(const RunAtlas& atlas, const ExplainedPhoto& photo, const Silence& what);

}  // namespace partwise::atlas
