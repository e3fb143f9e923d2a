#pragma once

#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace partwise::models {

struct Exported {
  std::string net;
  std::string arm;
  int64_t epochs = 0;  // the checkpoint's
  int64_t bytes = 0;
};

// Writes the network of a run as ONNX or, by the ending of `out`, as safetensors, with what a
// stranger needs to feed it and to read its answer (docs/export.md). checkpoint, data: see
// open_model.
Exported export_run(const runs::RunFolder& run,
                    const std::string& checkpoint,
                    const std::filesystem::path& data,
                    const std::filesystem::path& out);

}  // namespace partwise::models
