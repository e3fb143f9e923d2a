#include "partwise/kernels/map_kernels.h"

namespace partwise::kernels {
namespace {
#include "partwise/kernels/map_kernels.inc"
}  // namespace

template <class T>
const MapKernels<T>& portable_map_kernels() {
  return kTable<T>;
}
template const MapKernels<float>& portable_map_kernels();
template const MapKernels<double>& portable_map_kernels();

}  // namespace partwise::kernels
