#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <utility>

namespace partwise {

// SplitMix64's finaliser: a bijection of 64 bits that leaves no visible structure.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// A seed for one purpose: derive_seed({seed, epoch, step}). Work that is seeded this way gives the
// same result in any order and on any number of threads.
constexpr uint64_t derive_seed(std::initializer_list<uint64_t> keys) {
  uint64_t seed = 0;
  for (const uint64_t key : keys) seed = mix64(seed ^ mix64(key));
  return seed;
}

// Small deterministic generator. Unlike <random>'s distributions, the same seed gives the same
// numbers with every standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() { return mix64(state_++ * 0xD1342543DE82EF95ULL); }
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }  // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }

  // Uniform in [0, count), without modulo bias.
  int64_t below(int64_t count) {
    const auto bound = static_cast<unsigned __int128>(count);
    return static_cast<int64_t>((bound * bits()) >> 64U);
  }

  double normal() {  // Box-Muller, one of the pair: no state to keep consistent
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_;
};

template <typename Range>
void shuffle(Range& range, Random& random) {
  for (auto i = static_cast<int64_t>(range.size()); i > 1; --i) {
    const auto j = static_cast<std::size_t>(random.below(i));
    std::swap(range[static_cast<std::size_t>(i - 1)], range[j]);
  }
}

}  // namespace partwise
