#include "partwise/report/loaded_run.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace partwise::report {

namespace {

// A path may hold any bytes; a page holds UTF-8.
std::string valid_utf8(const std::string& bytes) {
  const auto quoted =
      nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

std::string folder_name(const std::filesystem::path& path) {
  const auto clean = path.lexically_normal();
  const auto name = clean.filename().empty() ? clean.parent_path().filename() : clean.filename();
  return valid_utf8(name.string());
}

LoadedRun load_run(const runs::RunFolder& folder) {
  const std::string path = folder.path().string();
  LoadedRun run;
  run.folder = path;
  run.findings = findings::require_findings(folder);
  run.options = folder.options();
  run.manifest = folder.manifest();
  run.log = folder.log();
  run.label = run.findings.arm;
  return run;
}

void name_and_style(std::vector<LoadedRun>& runs) {
  std::multiset<std::string> arms;
  std::set<std::size_t> ranks;
  for (const LoadedRun& run : runs) {
    arms.insert(run.findings.arm);
    ranks.insert(arm_rank(run.findings.arm));
  }
  const bool one_each = ranks.size() == runs.size();
  for (std::size_t k = 0; k < runs.size(); ++k) {
    LoadedRun& run = runs[k];
    if (arms.count(run.findings.arm) > 1) run.label += " · " + folder_name(run.folder);
    run.style = static_cast<int64_t>(one_each ? arm_rank(run.findings.arm) : k);
  }
}

}  // namespace

std::vector<LoadedRun> load_runs(const std::vector<runs::RunFolder>& folders) {
  ensure(!folders.empty(), "a report needs at least one run: partwise report RUN… --out FILE.html");
  std::vector<LoadedRun> runs;
  runs.reserve(folders.size());
  for (const runs::RunFolder& folder : folders) runs.push_back(load_run(folder));
  std::stable_sort(runs.begin(), runs.end(), [](const LoadedRun& a, const LoadedRun& b) {
    return arm_rank(a.findings.arm) < arm_rank(b.findings.arm);
  });
  name_and_style(runs);
  return runs;
}

}  // namespace partwise::report
