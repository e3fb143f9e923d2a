#include "partwise/runs/longer_run.h"

#include "partwise/runs/run_folder.h"

#include <string>

namespace partwise::runs {

namespace fs = std::filesystem;

void lengthen_run(const fs::path& path, int64_t epochs) {
  const RunLock lock(path);
  const auto run = RunFolder::open(path);
  const auto done = std::ssize(run.log());
  for (const fs::path name : {"findings.json", "draws.safetensors"}) {
    const auto aside =
        fmt::format("{}-epoch-{}{}", name.stem().string(), done, name.extension().string());
    if (fs::exists(path / name)) fs::rename(path / name, path / aside);
  }
  auto manifest = run.manifest();
  manifest["lengthened"].push_back({{"at_epoch", done}, {"epochs", epochs}});
  write_json_atomically(path / "manifest.json", manifest);
  auto options = run.options();
  options["epochs"] = epochs;  // last: from here on there is something to train
  write_json_atomically(path / "options.json", options);
}

}  // namespace partwise::runs
