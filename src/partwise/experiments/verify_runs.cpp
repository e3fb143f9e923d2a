#include "partwise/experiments/verify_runs.h"

#include "partwise/base/progress.h"

namespace partwise::experiments {

std::vector<explaining::NamedVerification> verify_runs(const std::vector<std::string>& folders,
                                                       const std::string& data,
                                                       const std::string& checkpoint,
                                                       const explaining::VerifyOptions& options,
                                                       const Machine& machine) {
  const auto resources = start_session(machine);
  std::vector<explaining::NamedVerification> found;
  for (const auto& folder : folders) {
    const auto run = runs::RunFolder::open(folder);
    const auto dataset = datasets::load_dataset(run.data(data));
    say(fmt::format("verifying {}", folder));
    found.push_back({folder, explaining::verify_run(run, dataset, options, resources, checkpoint)});
    explaining::write_verification(run, found.back().found);
  }
  return found;
}

}  // namespace partwise::experiments
