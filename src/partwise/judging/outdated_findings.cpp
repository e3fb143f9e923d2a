#include "partwise/judging/outdated_findings.h"

#include "partwise/models/checkpoint.h"

namespace partwise::judging {

std::string why_outdated(const runs::RunFolder& run, const findings::RunFindings& found) {
  const auto position = models::position_of(run, found.checkpoint);
  if (!found.moment || !position) return "";
  const runs::TrainingMoment now{position->epoch, position->step};
  if (now == *found.moment) return "";
  const bool best = found.checkpoint == "best";
  return fmt::format(
      "{0}: its findings are of {1}, its {2} is at {3}; run: partwise measure {0}{4}",
      run.path().string(), words_for(*found.moment), best ? "best checkpoint" : "network",
      words_for(now), best ? " --checkpoint best" : "");
}

bool are_as_asked(const runs::RunFolder& run,
                  const findings::RunFindings& found,
                  const MeasureOptions& options) {
  const auto checkpoint = found.checkpoint.empty() ? "last" : found.checkpoint;
  return found.split == options.split && checkpoint == options.checkpoint &&
         why_outdated(run, found).empty();
}

}  // namespace partwise::judging
