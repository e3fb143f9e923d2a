#pragma once

#include "partwise/images/image.h"

#include <vector>

namespace partwise::images {

// Output pixel i along one axis is the sum over k < each of weights[i * each + k] times source
// pixel first[i] + k. All lists have one length, filled up with zeros; no source pixel outside
// [begin, end) is named.
struct Taps {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t each = 0;
  std::vector<int64_t> first;  // never falls
  std::vector<float> weights;
};

constexpr int64_t kRowSlack = 8;  // floats behind a narrowed row that a kernel may write over

// The two passes of a resize. Sums run in the order of the taps, in float32 and without fused
// multiply-adds, so that all kernels give the same bits.
struct RowKernels {
  // Two rows of RGB bytes along the x axis; each result is 3 * first.size() floats.
  // scratch: 8 * (end - begin) floats.
  void (*narrow_two)(const uint8_t* row,
                     const uint8_t* other,
                     const Taps& taps,
                     float* scratch,
                     float* out,
                     float* other_out);
  // out[i] = sum_k weights[k] * rows[k][i], rounded to a byte, for i < values.
  void (*blend)(
      const float* const* rows, const float* weights, int64_t count, int64_t values, uint8_t* out);
};

const RowKernels& portable_row_kernels();
const RowKernels& fastest_row_kernels();  // on this machine: AVX2 where it is there

// resize_antialiased (resize.h) with kernels of one's choice; the window lies in the image as it
// is.
Image resize_with(const RowKernels& kernels,
                  const Image& image,
                  const Window& window,
                  int64_t width,
                  int64_t height,
                  int64_t reduction);

}  // namespace partwise::images
