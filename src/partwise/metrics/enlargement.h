#pragma once

#include "partwise/metrics/maps.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

// Maps made as large as the input by bilinear interpolation between unit centres, constant beyond
// the outermost ones, and looked at in every `step`-th pixel: pixels step / 2 + step * k.
//   x_hat = top + v (bottom - top), top = a + u (b - a), bottom = c + u (d - c),
// a, b, c, d the four cells around the pixel, row-major; in double, rounded to float at the end. A
// pixel beside a NaN cell is NaN.
class Enlargement {
 public:
  Enlargement(const UnitGrid& grid, int64_t map_side, int64_t step);

  [[nodiscard]] int64_t side() const { return static_cast<int64_t>(samples_.size()); }

  // All pixels of the enlarged map, row-major; `enlarged` holds side * side.
  void enlarge(std::span<const float> map, std::span<float> enlarged) const;

  // A value between four cells is no larger than the largest of them: neither of the next two looks
  // where that is too small, and neither makes the whole map.

  // Appends the pixels of the enlarged map from `least` on, in any order; NaN is none of them.
  void append_from(std::span<const float> map, float least, std::vector<float>& values) const;

  // The pixels of the enlarged map above the threshold; `region` is a set of side() pixels a side
  // and is cleared first.
  void paint(std::span<const float> map, float threshold, PixelSet& region) const;

  // The pixels looked at, of a set of the input's pixels.
  [[nodiscard]] PixelSet sampled(const PixelSet& pixels) const;

 private:
  // Between cells `before` and `after` of a row or column of cells.
  struct Sample {
    int64_t pixel = 0;
    int64_t before = 0;
    int64_t after = 0;
    double share = 0.0;
  };
  template <typename Matters, typename Visit>
  void for_each_line(std::span<const float> map, const Matters& matters, const Visit& visit) const;
  void widen(std::span<const float> map,
             int64_t row,
             int64_t first,
             int64_t end,
             std::vector<double>& wide) const;

  int64_t map_side_;
  int64_t step_;
  std::vector<Sample> samples_;
  std::vector<int64_t> first_;  // [cell column]: its first sample; ends with the number of samples
};

}  // namespace partwise::metrics
