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
const LayerKernels<T>& portable_layer_kernels() {
  return kTable<T>;
}
template const LayerKernels<float>& portable_layer_kernels();
template const LayerKernels<double>& portable_layer_kernels();

}  // namespace partwise::kernels
