#pragma once

#include "partwise/atlas/recent.h"
#include "partwise/atlas/run_atlas.h"
#include "partwise/atlas/workbench.h"
#include "partwise/base/options.h"
#include "partwise/findings/run_findings.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace partwise::atlas {

enum class RunState { training, trained, measured };

// Where the images of a run lie, and whether they can be shown.
struct DataStatus {
  std::string folder;
  bool there = false;
  std::string why;  // not
};

// One run as it lies on disk now, and what was opened of it.
class ShownRun {
 public:
  ShownRun(runs::RunFolder folder, std::filesystem::path data);

  std::string id;     // its folder's name, made unique
  std::string label;  // its arm, with the id where two runs share one

  const runs::RunFolder& folder() const { return folder_; }
  // training: a process trains it at this moment
  RunState state() const;
  // As findings.json is now; nothing where it was not measured or cannot be read.
  std::shared_ptr<const findings::RunFindings> findings() const;
  // What was found when it was opened; before that, whether there are any.
  DataStatus data() const;
  // Another text for everything that was opened anew: pictures and answers are known by it.
  std::string stamp() const;
  // Its network, its findings or its data are others than when it was opened.
  bool is_outdated() const;
  // What it is opened with.
  AtlasRequest request() const;

  // What was opened; nothing before.
  std::shared_ptr<RunAtlas> atlas() const;
  // Waits as long for it; an Error where opening failed, nothing where it still goes on.
  std::shared_ptr<RunAtlas> atlas_within(std::chrono::milliseconds patience) const;
  bool is_opening() const;
  bool is_learning() const;     // its parts, once it is open: until then filters go without names
  std::string failure() const;  // why opening failed; "" where it did not

 private:
  friend class Library;
  std::filesystem::path data_folder() const;
  std::string files_now() const;  // when what it is opened from was written
  void begin_opening();
  // The dataset it is looked at on. Nothing, and a line, where it is gone, or has changed since the
  // run was trained, or is not what it was measured on, and nobody named it.
  std::optional<datasets::PartDataset> find_data();
  void set_learning(bool learning);
  void replace(std::shared_ptr<RunAtlas> atlas);
  void end_opening(std::shared_ptr<RunAtlas> atlas, std::string failure);

  runs::RunFolder folder_;
  std::filesystem::path given_data_;
  mutable std::mutex guard_;
  mutable std::condition_variable opened_;
  std::shared_ptr<RunAtlas> atlas_;
  bool opening_ = false;
  bool learning_ = false;
  std::string failure_;
  std::optional<DataStatus> data_;  // at the last opening
  std::string opened_from_;         // files_now, before it
  int64_t edition_ = 0;             // how often something was opened or learnt
  mutable std::filesystem::file_time_type findings_time_;
  mutable std::shared_ptr<const findings::RunFindings> findings_;
};

// The runs that are shown. They are opened one after the other on a thread of their own; everything
// else that needs a network is done on `bench`.
class Library {
 public:
  // Folders that are no runs are an Error.
  Library(const std::vector<std::string>& folders,
          const std::filesystem::path& data,
          models::Resources resources,
          std::function<void()> prepare);

  const std::vector<std::unique_ptr<ShownRun>>& runs() const { return runs_; }
  ShownRun* find(const std::string& id) const;  // nullptr: no such run
  // Opens those that are not open and could be by now. Those that do not know their parts learn
  // them when all are open.
  void open_what_can_be();

  Workbench& bench() { return bench_; }

 private:
  void open(ShownRun& run);
  void learn(ShownRun& run);

  models::Resources resources_;
  std::vector<std::unique_ptr<ShownRun>> runs_;
  Workbench bench_;
  Workbench opener_;  // last: it ends first
};

}  // namespace partwise::atlas

template <>
inline constexpr auto partwise::kWords<partwise::atlas::RunState> = partwise::words("training",
                                                                                    "trained",
                                                                                    "measured");
