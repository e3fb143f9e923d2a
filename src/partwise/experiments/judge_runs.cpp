#include "partwise/experiments/judge_runs.h"

#include "partwise/base/files.h"
#include "partwise/judging/dissection.h"
#include "partwise/judging/network_dump.h"
#include "partwise/models/checkpoint.h"
#include "partwise/models/run_data.h"

namespace partwise::experiments {

std::vector<findings::NamedFindings> measure_runs(const std::vector<std::string>& folders,
                                                  const std::string& data,
                                                  const judging::MeasureOptions& options,
                                                  const Machine& machine) {
  const auto resources = start_session(machine);
  std::vector<findings::NamedFindings> found;
  for (const auto& folder : folders) {
    const auto run = runs::RunFolder::open(folder);
    models::name_lost_epochs(run);
    const auto dataset = models::data_of(run, data);
    found.push_back({folder, judging::measure_run(run, dataset, options, resources)});
  }
  return found;
}

judging::DumpSize dump_run(const std::string& folder,
                           const std::string& data,
                           const judging::DumpOptions& options,
                           const std::filesystem::path& out,
                           const Machine& machine) {
  ensure(out.extension() == ".safetensors",
         "{}: only safetensors is written; end the name in .safetensors", out.string());
  make_room_for(out);  // before minutes of work
  const auto resources = start_session(machine);
  const auto run = runs::RunFolder::open(folder);
  const auto dataset = models::data_of(run, data);
  return judging::dump_layer(run, dataset, options, out, resources);
}

}  // namespace partwise::experiments
