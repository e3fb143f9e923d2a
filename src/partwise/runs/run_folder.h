#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace partwise::runs {

// One experiment on disk:
//   options.json    every option, flat
//   manifest.json   program version, git commit, library versions, data checksum, when it was made
//   log.jsonl       one object an epoch; log.csv and events.out.tfevents.partwise hold the same
//                   numbers for spreadsheets and TensorBoard
//   checkpoints/    owned by training
//   findings.json   what measuring found, draws.safetensors beside it; pictures/ what it shows
// Training writes it, dissection adds to it, report and server read it.
class RunFolder {
 public:
  // A new run, or the same one again: a folder that holds a run with other options, or anything
  // that is no run, is refused and left untouched. An option the run there does not know, since an
  // older program made it, counts as its default.
  static RunFolder create(const std::filesystem::path& path,
                          const nlohmann::json& options,
                          const nlohmann::json& manifest,
                          const nlohmann::json& defaults = nlohmann::json::object());
  // An existing run; an Error says what is missing.
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const nlohmann::json& options() const { return options_; }
  const nlohmann::json& manifest() const { return manifest_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path pictures() const { return path_ / "pictures"; }

  // log.csv and the event file follow every change of the log; TensorBoard may be watching.
  void append_log(const nlohmann::json& row) const;
  std::vector<nlohmann::json> log() const;  // an incomplete last line (a killed writer) is dropped
  void rewrite_log(const std::vector<nlohmann::json>& rows) const;

 private:
  RunFolder(std::filesystem::path path, nlohmann::json options, nlohmann::json manifest);
  void write_derived_logs() const;

  std::filesystem::path path_;
  nlohmann::json options_;
  nlohmann::json manifest_;
};

}  // namespace partwise::runs
