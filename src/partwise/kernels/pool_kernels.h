#pragma once

#include "partwise/kernels/levels.h"

#include <cstdint>

// Max pooling of windows of 2 x 2 cells that lie side by side. All functions work on the planes
// `begin` to `end` and touch no others.
namespace partwise::kernels {

// planes [count, rows, columns], contiguous; pooled [count, rows / 2, columns / 2]: an odd last row
// or column is in no window.
struct Planes {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};

struct PoolKernels {
  // pooled: the window's highest value; what is no number is highest of all.
  void (*pool)(const Planes& planes, const float* values, float* pooled);

  // passed: the gradient at the first cell that is the window's highest, 0 at all others. A window
  // whose highest is no number passes nothing.
  void (*pass_back)(const Planes& planes,
                    const float* values,
                    const float* pooled,
                    const float* gradient,
                    float* passed);
};

const PoolKernels& pool_kernels(Level level = best_level());

// One per level, each in a file compiled for it.
const PoolKernels& portable_pool_kernels();
const PoolKernels& avx2_pool_kernels();

}  // namespace partwise::kernels
