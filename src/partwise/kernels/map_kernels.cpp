#include "partwise/kernels/map_kernels.h"

namespace partwise::kernels {

template <class T>
const MapKernels<T>& map_kernels(Level level) {
  switch (level) {
    case Level::avx512:
      return avx512_map_kernels<T>();
    case Level::avx2:
      return avx2_map_kernels<T>();
    case Level::portable:
      break;
  }
  return portable_map_kernels<T>();
}
template const MapKernels<float>& map_kernels(Level level);
template const MapKernels<double>& map_kernels(Level level);

}  // namespace partwise::kernels
