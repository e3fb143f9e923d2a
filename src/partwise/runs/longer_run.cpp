#include "partwise/runs/longer_run.h"

#include "partwise/runs/run_folder.h"

#include <string>

namespace partwise::runs {

namespace fs = std::filesystem;

void lengthen_run(const fs::path& path, int64_t epochs) {
  const RunLock lock(path);
  const auto run = RunFolder::open(path);
  const auto done = std::ssize(run.log());
  auto manifest = run.manifest();
  auto options = run.options();
  auto& lengthened = manifest["lengthened"];
  // What the options do not say was never in force: its writer was killed before it changed them.
  if (!lengthened.empty() && lengthened.back().at("epochs") != options["epochs"])
    lengthened.erase(lengthened.size() - 1);
  lengthened.push_back({{"at_epoch", done}, {"epochs", epochs}});
  write_sealed_json(path / "manifest.json", manifest);
  options["epochs"] = epochs;  // from here on there is something to train
  write_sealed_json(path / "options.json", options);
  // Last: findings beside a run that is not longer yet are its own.
  for (const fs::path name : {"findings.json", "draws.safetensors"}) {
    const auto aside =
        fmt::format("{}-epoch-{}{}", name.stem().string(), done, name.extension().string());
    if (fs::exists(path / name)) fs::rename(path / name, path / aside);
  }
}

}  // namespace partwise::runs
