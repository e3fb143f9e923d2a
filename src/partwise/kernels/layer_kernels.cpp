#include "partwise/kernels/layer_kernels.h"

namespace partwise::kernels {

template <class T>
const LayerKernels<T>& layer_kernels(Level level) {
  switch (level) {
    case Level::avx512:
      return avx512_layer_kernels<T>();
    case Level::avx2:
      return avx2_layer_kernels<T>();
    case Level::portable:
      break;
  }
  return portable_layer_kernels<T>();
}
template const LayerKernels<float>& layer_kernels(Level level);
template const LayerKernels<double>& layer_kernels(Level level);

}  // namespace partwise::kernels
