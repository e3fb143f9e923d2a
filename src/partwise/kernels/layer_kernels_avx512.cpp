#include "partwise/kernels/layer_kernels.h"
#include "partwise/kernels/method_constants.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace partwise::kernels {
namespace {
#include "partwise/kernels/exponential.inc"
#include "partwise/kernels/layer_kernels.inc"
}  // namespace

template <class T>
const LayerKernels<T>& avx512_layer_kernels() {
  return kTable<T>;
}
template const LayerKernels<float>& avx512_layer_kernels();
template const LayerKernels<double>& avx512_layer_kernels();

}  // namespace partwise::kernels
