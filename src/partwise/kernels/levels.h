#pragma once

#include <string>
#include <vector>

namespace partwise::kernels {

// Instructions the kernels are compiled for. AVX-512 was tried and does not pay: decision 0018.
enum class Level { portable, avx2 };

std::string word_of(Level level);

// What this machine can run, `portable` first.
const std::vector<Level>& available_levels();

inline Level best_level() {
  return available_levels().back();
}

}  // namespace partwise::kernels
