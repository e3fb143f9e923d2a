#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

// How many of `count` values may lie above a threshold that `share` of them exceed:
// m = floor(share * count), forgiving a rounding error just below a whole number.
int64_t values_above(double share, int64_t count);

// For many streams of values (one per filter), without keeping them, the threshold T that `share` of
// a stream exceeds: its (m + 1)-th largest value, m = values_above, so that the values > T are m,
// or, where ties forbid m, the largest possible number below it. NaN counts as -inf, -0 as 0. share
// in [0, 1). Without values T is 0. A float's bits, put in the order of its value, are found 11, 11
// and 10 at a time by counting, one pass over the values for each. 16 kB a stream, whatever the
// number of values. Counts are whole numbers, so the result is exact for any order of the values.
//   UpperQuantiles quantiles(filters, share);
//   do { for (all values) quantiles.add(filter, values); } while (quantiles.end_pass());
class UpperQuantiles {
 public:
  UpperQuantiles(int64_t streams, double share);

  // Different streams may be fed from different threads.
  void add(int64_t stream, std::span<const float> values);

  // Values below this one change nothing in this pass and may be left out; -inf in the first.
  [[nodiscard]] float needed_from(int64_t stream) const;

  // True if another pass over the same values is needed.
  bool end_pass();

  // After the last pass.
  [[nodiscard]] float threshold(int64_t stream) const;

 private:
  struct Search {
    uint32_t prefix = 0;  // of the ordered bits found so far
    int64_t above = 0;    // how many more values may lie above the threshold
  };

  double share_;
  int pass_ = 0;
  std::vector<Search> searches_;
  std::vector<int64_t> counts_;  // [streams, buckets of a pass]
};

}  // namespace partwise::metrics
