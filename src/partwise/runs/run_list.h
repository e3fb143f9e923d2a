#pragma once

#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace partwise::runs {

// A run as its folder tells, without opening the network.
struct ListedRun {
  std::filesystem::path path;
  std::string net;
  std::string arm;
  std::string task;
  int64_t epochs = 0;  // in its log
  int64_t epochs_wanted = 0;
  bool is_training = false;  // a process trains it at this moment
  std::string created;       // "2026-01-31T12:00:00Z"
  std::string data;
  std::string problem;  // why it cannot be read; "": it can
};

// The runs in and below a folder, by their paths; hidden folders, links and what lies inside runs
// are passed over. An Error where the folder is not there.
std::vector<ListedRun> list_runs(const std::filesystem::path& folder);

// Whether a process trains it at this moment.
bool is_training(const std::filesystem::path& run);

}  // namespace partwise::runs
