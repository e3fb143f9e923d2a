#pragma once

#include "partwise/cli/command.h"
#include "partwise/training/trainer.h"

namespace partwise::cli {

// LibTorch made ready for a command, on the device and threads asked for; says so where the program
// chose CUDA by itself. A device that is not there is an Error.
models::Resources start_session(const Common& common);

}  // namespace partwise::cli
