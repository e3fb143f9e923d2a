#include "partwise/experiments/verify_runs.h"

#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/models/run_data.h"

#include <optional>

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
    const auto dataset = models::data_of(run, data);
    say(fmt::format("verifying {}", folder));
    {
      const Abandonable abandonable(folder + ": interrupted while verifying; nothing was written");
      found.push_back(
          {folder, explaining::verify_run(run, dataset, options, resources, checkpoint)});
    }
    explaining::write_verification(run, found.back().found);
  }
  return found;
}

std::vector<NamedSilencing> silence_parts(const std::vector<std::string>& folders,
                                          const std::string& data,
                                          const std::string& checkpoint,
                                          const explaining::SilencingOptions& options,
                                          const Machine& machine) {
  const auto resources = start_session(machine);
  std::vector<NamedSilencing> found;
  for (const auto& folder : folders) {
    const auto run = runs::RunFolder::open(folder);
    const auto dataset = models::data_of(run, data);
    explaining::provide_part_book_from(dataset, run, resources, checkpoint);
    const explaining::Explainer explainer(run, checkpoint, resources.device);
    const auto task = models::task_on(dataset, explainer.model().design.task);
    const auto examples =
        models::load_examples(dataset, task, "test", explainer.model().design.input.side,
                              resources.threads, resources.cache);
    std::optional<Abandonable> abandonable(folder + ": interrupted while silencing parts");
    found.push_back({folder, explaining::check_silencing(explainer, task, examples,
                                                         resources.device, options)});
    abandonable.reset();
    write_sealed_json(run.path() / "silencing.json", to_json(found.back().found));
  }
  return found;
}

}  // namespace partwise::experiments
