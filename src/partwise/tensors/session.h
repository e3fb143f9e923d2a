#pragma once

#include "partwise/base/options.h"

#include <cstdint>
#include <string>

namespace partwise::tensors {

// Prepares LibTorch for a whole command: thread count (0: all cores; LibTorch alone may pick one),
// one set of threads for all of it, memory kept between steps, deterministic algorithms, flushed
// denormals.
void start_session(int64_t threads);

// "cpu", or "cuda" / "cuda:N" when this build and machine have it; an Error says what is missing.
void require_device(const std::string& device);

// The device to work on: "auto" is cuda where this build and machine have it and cpu elsewhere; any
// other name is required as it is.
std::string choose_device(const std::string& name);

void seed_generators(uint64_t seed);

std::string libtorch_version();

// How exactly products are computed while training; weights, statistics and the filter loss are
// float32 always.
//   float32  as it says
//   tf32     on a GPU convolutions and matrix products round their factors to 10 bits; on a CPU the
//            same as float32
//   bf16     convolutions and matrix products take and give bfloat16
enum class Precision { float32, tf32, bf16 };

// In force while it lives, on `device`, for the thread that made it.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, const std::string& device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  bool rounds_;
  bool on_cuda_;
};

// Float32 inside such a scope, for statistics and losses.
class FullPrecision {
 public:
  FullPrecision();
  ~FullPrecision();
  FullPrecision(const FullPrecision&) = delete;
  FullPrecision& operator=(const FullPrecision&) = delete;

 private:
  bool cpu_;
  bool cuda_;
  bool tf32_;
};

}  // namespace partwise::tensors

template <>
inline constexpr auto partwise::kWords<partwise::tensors::Precision> = partwise::words("float32",
                                                                                       "tf32",
                                                                                       "bf16");
