#pragma once

#include "partwise/experiments/machine.h"
#include "partwise/explaining/silencing.h"
#include "partwise/explaining/verification_tables.h"

#include <string>
#include <vector>

namespace partwise::experiments {

// Holds the explanations of runs against scenes with parts taken away, each on the dataset in
// `data` or, where that is empty, on its own, and leaves faithfulness.json in their folders.
std::vector<explaining::NamedVerification> verify_runs(const std::vector<std::string>& folders,
                                                       const std::string& data,
                                                       const std::string& checkpoint,
                                                       const explaining::VerifyOptions& options,
                                                       const Machine& machine);

// The check that photographs allow, on the split "test": silencing.json in the run's folder.
struct NamedSilencing {
  std::string name;
  explaining::SilencingCheck found;
};
std::vector<NamedSilencing> silence_parts(const std::vector<std::string>& folders,
                                          const std::string& data,
                                          const std::string& checkpoint,
                                          const explaining::SilencingOptions& options,
                                          const Machine& machine);

}  // namespace partwise::experiments
