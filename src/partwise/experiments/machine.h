#pragma once

#include "partwise/datasets/crop_cache.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace partwise::models {
struct Resources;
}
namespace partwise::datasets {
struct PartDataset;
}

namespace partwise::experiments {

// What of this machine a command may use.
struct Machine {
  std::string device = "auto";  // cuda where there is one
  int threads = 0;              // 0: all cores
  std::string cache = datasets::default_cache_folder().string();
  int64_t cache_limit = int64_t{10} << 30U;
};

// LibTorch made ready for a command; says so where CUDA was chosen by itself. A device that is not
// there is an Error.
models::Resources start_session(const Machine& machine);

std::string version_text();

// What a run's manifest says of the program and the data: version, commit, LibTorch, checksum of
// the dataset's description, command-independent.
nlohmann::json make_manifest(const datasets::PartDataset& dataset);

}  // namespace partwise::experiments
