#include "partwise/images/row_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace partwise::images {
namespace {

void narrow(const uint8_t* row, const Taps& taps, float* out) {
  const float* weight = taps.weights.data();
  for (const int64_t first : taps.first) {
    const uint8_t* pixel = row + 3 * first;
    std::array<float, 3> sum{};
    for (int64_t k = 0; k < taps.each; ++k, ++weight, pixel += 3) {
      for (std::size_t c = 0; c < 3; ++c) sum[c] += *weight * static_cast<float>(pixel[c]);
    }
    out = std::copy(sum.begin(), sum.end(), out);
  }
}

void narrow_two_portably(const uint8_t* row,
                         const uint8_t* other,
                         const Taps& taps,
                         float* /*scratch*/,
                         float* out,
                         float* other_out) {
  narrow(row, taps, out);
  narrow(other, taps, other_out);
}

void blend_portably(
    const float* const* rows, const float* weights, int64_t count, int64_t values, uint8_t* out) {
  constexpr int64_t kBlock = 64;  // enough for any vector unit, and stays in registers or near
  for (int64_t start = 0; start < values; start += kBlock) {
    const int64_t block = std::min(kBlock, values - start);
    std::array<float, kBlock> sum{};
    for (int64_t k = 0; k < count; ++k) {
      const float* row = rows[k] + start;
      for (int64_t i = 0; i < block; ++i) sum[static_cast<std::size_t>(i)] += weights[k] * row[i];
    }
    for (int64_t i = 0; i < block; ++i) {
      const float value = sum[static_cast<std::size_t>(i)] + 0.5F;
      out[start + i] = static_cast<uint8_t>(std::clamp(value, 0.0F, 255.0F));
    }
  }
}

constexpr RowKernels kPortable{narrow_two_portably, blend_portably};

#if defined(__x86_64__)

// One pixel of either row, as floats: r g b and whatever comes next, twice.
template <std::size_t bytes>
__attribute__((target("avx2"))) inline __m256 two_pixels(const uint8_t* row, const uint8_t* other) {
  int pixel = 0;
  int other_pixel = 0;
  std::memcpy(&pixel, row, bytes);
  std::memcpy(&other_pixel, other, bytes);
  const auto both = _mm_unpacklo_epi32(_mm_cvtsi32_si128(pixel), _mm_cvtsi32_si128(other_pixel));
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(both));
}

__attribute__((target("avx2"))) void narrow_two_avx2(const uint8_t* row,
                                                     const uint8_t* other,
                                                     const Taps& taps,
                                                     float* scratch,
                                                     float* out,
                                                     float* other_out) {
  const int64_t pixels = taps.end - taps.begin;
  row += 3 * taps.begin;
  other += 3 * taps.begin;
  for (int64_t x = 0; x + 1 < pixels; ++x) {
    _mm256_storeu_ps(scratch + 8 * x, two_pixels<4>(row + 3 * x, other + 3 * x));
  }
  const int64_t last = pixels - 1;  // there may be no byte behind it
  _mm256_storeu_ps(scratch + 8 * last, two_pixels<3>(row + 3 * last, other + 3 * last));
  const float* weight = taps.weights.data();
  const int64_t each = taps.each;
  for (const int64_t first : taps.first) {
    const float* from = scratch + 8 * (first - taps.begin);
    __m256 sum = _mm256_setzero_ps();
    for (int64_t k = 0; k < each; ++k, ++weight, from += 8) {
      sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_broadcast_ss(weight), _mm256_loadu_ps(from)));
    }
    _mm_storeu_ps(out, _mm256_castps256_ps128(sum));  // the fourth is written over by the next
    _mm_storeu_ps(other_out, _mm256_extractf128_ps(sum, 1));
    out += 3;
    other_out += 3;
  }
}

__attribute__((target("avx2"))) inline __m256i rounded(__m256 sum) {
  const auto raised = _mm256_add_ps(sum, _mm256_set1_ps(0.5F));
  return _mm256_cvttps_epi32(
      _mm256_min_ps(_mm256_max_ps(raised, _mm256_setzero_ps()), _mm256_set1_ps(255.0F)));
}

__attribute__((target("avx2"))) void blend_avx2(
    const float* const* rows, const float* weights, int64_t count, int64_t values, uint8_t* out) {
  constexpr int64_t kBlock = 32;
  int64_t start = 0;
  for (; start + kBlock <= values; start += kBlock) {
    __m256 a = _mm256_setzero_ps();
    __m256 b = a;
    __m256 c = a;
    __m256 d = a;
    for (int64_t k = 0; k < count; ++k) {
      const auto weight = _mm256_broadcast_ss(weights + k);
      const float* row = rows[k] + start;
      a = _mm256_add_ps(a, _mm256_mul_ps(weight, _mm256_loadu_ps(row)));
      b = _mm256_add_ps(b, _mm256_mul_ps(weight, _mm256_loadu_ps(row + 8)));
      c = _mm256_add_ps(c, _mm256_mul_ps(weight, _mm256_loadu_ps(row + 16)));
      d = _mm256_add_ps(d, _mm256_mul_ps(weight, _mm256_loadu_ps(row + 24)));
    }
    // Packing works within the halves of a register; the permutation puts the quarters in order.
    const auto packed = _mm256_packus_epi16(_mm256_packus_epi32(rounded(a), rounded(b)),
                                            _mm256_packus_epi32(rounded(c), rounded(d)));
    const auto order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + start),
                        _mm256_permutevar8x32_epi32(packed, order));
  }
  for (; start < values; ++start) {
    float sum = 0.0F;
    for (int64_t k = 0; k < count; ++k) sum += weights[k] * rows[k][start];
    out[start] = static_cast<uint8_t>(std::clamp(sum + 0.5F, 0.0F, 255.0F));
  }
}

constexpr RowKernels kAvx2{narrow_two_avx2, blend_avx2};

#endif

}  // namespace

const RowKernels& portable_row_kernels() {
  return kPortable;
}

const RowKernels& fastest_row_kernels() {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) return kAvx2;
#endif
  return kPortable;
}

}  // namespace partwise::images
