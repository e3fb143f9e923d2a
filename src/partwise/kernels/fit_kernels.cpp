#include "partwise/kernels/fit_kernels.h"

namespace partwise::kernels {

template <class T>
const FitKernels<T>& fit_kernels(Level level) {
  switch (level) {
    case Level::avx512:
      return avx512_fit_kernels<T>();
    case Level::avx2:
      return avx2_fit_kernels<T>();
    case Level::portable:
      break;
  }
  return portable_fit_kernels<T>();
}
template const FitKernels<float>& fit_kernels(Level level);
template const FitKernels<double>& fit_kernels(Level level);

}  // namespace partwise::kernels
