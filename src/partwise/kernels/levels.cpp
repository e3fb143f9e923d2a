#include "partwise/kernels/levels.h"

namespace partwise::kernels {
namespace {

std::vector<Level> find_levels() {
  std::vector<Level> found{Level::portable};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return found;
  found.push_back(Level::avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    found.push_back(Level::avx512);
#endif
  return found;
}

}  // namespace

std::string word_of(Level level) {
  switch (level) {
    case Level::portable:
      return "portable";
    case Level::avx2:
      return "avx2";
    case Level::avx512:
      return "avx512";
  }
  return {};
}

const std::vector<Level>& available_levels() {
  static const auto levels = find_levels();
  return levels;
}

}  // namespace partwise::kernels
