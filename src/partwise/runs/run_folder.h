#pragma once

#include "partwise/base/files.h"

#include <functional>
#include <vector>

namespace partwise::runs {

// The first option in which `here` differs from `there`, in words; "": none.
std::string first_difference(const nlohmann::json& here, const nlohmann::json& there);

// One experiment on disk:
//   options.json    every option, flat
//   manifest.json   program version, git commit, library versions, data checksum, when it was made
//   log.jsonl       one object per epoch; log.csv and events.out.tfevents.partwise hold the same
//                   numbers for spreadsheets and TensorBoard
//   model.json      what the network is (models/model.h); checkpoints/ its weights
//   findings.json   what measuring found, draws.safetensors beside it; pictures/ what it shows
//   figures/        the paper's figures drawn of it, for its report (drawn_figures.h)
//   explanations/   photographs explained for its report (explained_photographs.h)
// Training writes it, judging adds to it, the report reads it.
class RunFolder {
 public:
  using Effective = std::function<nlohmann::json(const nlohmann::json& options)>;

  // A new run, or the same one again: a folder that holds a run with other options, or anything
  // that is no run, is refused and left untouched; so is one whose dataset has changed since.
  // `effective`: what options come to, where one of an older program, or without effect, may be
  // written otherwise.
  static RunFolder create(const std::filesystem::path& path,
                          const nlohmann::json& options,
                          const nlohmann::json& manifest,
                          const Effective& effective = std::identity{});
  // An existing run; an Error says what is missing.
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const nlohmann::json& options() const { return options_; }
  const nlohmann::json& manifest() const { return manifest_; }
  // Where its dataset lies: `given`, or where it lay when the run was made; an Error where it has
  // gone from there. Whether it has changed since: models::data_of.
  std::filesystem::path data(const std::filesystem::path& given = {}) const;
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path pictures() const { return path_ / "pictures"; }

  // log.csv and the event file follow every change of the log; TensorBoard may be watching.
  void append_log(const nlohmann::json& row) const;
  // A last line without its end (a killed writer) is dropped; any other damage is an Error.
  std::vector<nlohmann::json> log() const;
  void rewrite_log(const std::vector<nlohmann::json>& rows) const;

 private:
  RunFolder(std::filesystem::path path, nlohmann::json options, nlohmann::json manifest);
  void write_derived_logs() const;

  std::filesystem::path path_;
  nlohmann::json options_;
  nlohmann::json manifest_;
};

// Held by whoever trains a run: a second one gets an Error instead of writing between the first
// one's checkpoints. The lock lies on the folder itself and the kernel drops it with its holder, so
// a killed training leaves nothing to clean up. Where a file system knows no such locks, there is
// none.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run);

 private:
  Descriptor folder_;
};

}  // namespace partwise::runs
