#include "partwise/kernels/map_kernels.h"

namespace partwise::kernels {
namespace {
#include "partwise/kernels/map_kernels.inc"
}  // namespace

template <class T>
const MapKernels<T>& avx2_map_kernels() {
  return kTable<T>;
}
template const MapKernels<float>& avx2_map_kernels();
template const MapKernels<double>& avx2_map_kernels();

}  // namespace partwise::kernels
