#include "partwise/kernels/fit_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace partwise::kernels {
namespace {
#include "partwise/kernels/cpu_vectors.inc"
#include "partwise/kernels/exponential.inc"
#include "partwise/kernels/fit_kernels.inc"
}  // namespace

template <class T>
const FitKernels<T>& avx512_fit_kernels() {
  return kTable<T>;
}
template const FitKernels<float>& avx512_fit_kernels();
template const FitKernels<double>& avx512_fit_kernels();

}  // namespace partwise::kernels
