#include "partwise/kernels/pool_kernels.h"

namespace partwise::kernels {
namespace {
#include "partwise/kernels/pool_kernels.inc"
}  // namespace

const PoolKernels& avx2_pool_kernels() {
  return kPoolTable;
}

}  // namespace partwise::kernels
