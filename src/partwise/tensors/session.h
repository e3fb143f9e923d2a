#pragma once

#include <cstdint>
#include <string>

namespace partwise::tensors {

// Prepares LibTorch for a whole command: thread count (0: all cores; LibTorch alone may pick one),
// deterministic algorithms, flushed denormals.
void start_session(int64_t threads);

// "cpu", or "cuda" / "cuda:N" when this build and machine have it; an Error says what is missing.
void require_device(const std::string& device);

// The device to work on: "auto" is cuda where this build and machine have it and cpu elsewhere; any
// other name is required as it is.
std::string choose_device(const std::string& name);

void seed_generators(uint64_t seed);

std::string libtorch_version();

}  // namespace partwise::tensors
