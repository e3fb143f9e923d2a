#include "partwise/kernels/map_kernels.h"

#include <utility>
#include <vector>

namespace partwise::kernels {
namespace {
#include "partwise/kernels/cpu_vectors.inc"
#include "partwise/kernels/map_kernels.inc"
}  // namespace

template <class T>
const MapKernels<T>& avx2_map_kernels() {
  return kTable<T>;
}
template const MapKernels<float>& avx2_map_kernels();
template const MapKernels<double>& avx2_map_kernels();

}  // namespace partwise::kernels
