#include "partwise/kernels/pool_kernels.h"

namespace partwise::kernels {

const PoolKernels& pool_kernels(Level level) {
  switch (level) {
    case Level::avx512:
    case Level::avx2:
      return avx2_pool_kernels();
    case Level::portable:
      break;
  }
  return portable_pool_kernels();
}

}  // namespace partwise::kernels
