#pragma once

#include "partwise/experiments/machine.h"
#include "partwise/explaining/confusions.h"

#include <filesystem>
#include <string>
#include <vector>

namespace partwise::experiments {

struct ErrorsRequest {
  std::string run;
  std::string data;  // "": the run's own dataset
  std::string split = "test";
  std::string checkpoint = "last";
  std::filesystem::path out;  // pictures and errors.json; empty: none
  int64_t pictures = 4;       // per confused pair
};

struct ErrorsOutcome {
  int64_t objects = 0;
  int64_t wrong = 0;
  std::vector<explaining::ConfusedPair> pairs;
  std::vector<std::vector<std::string>> files;  // [pair][mistake]: image files
  nlohmann::json json;                          // all of it, as errors.json holds it
};

// Explains what a network got wrong on a split.
ErrorsOutcome explain_errors(const ErrorsRequest& request, const Machine& machine);

}  // namespace partwise::experiments
