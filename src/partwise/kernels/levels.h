#pragma once

#include <string>
#include <vector>

namespace partwise::kernels {

// Instructions the kernels are compiled for. At avx512 pooling uses its AVX2 kernels: wider ones
// gain nothing.
enum class Level { portable, avx2, avx512 };

std::string word_of(Level level);

// What this machine can run, `portable` first.
const std::vector<Level>& available_levels();

inline Level best_level() {
  return available_levels().back();
}

}  // namespace partwise::kernels
