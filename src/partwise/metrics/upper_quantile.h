#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

// How many of `count` values may lie above a threshold that `share` of them exceed:
// m = floor(share * count), forgiving a rounding error just below a whole number.
int64_t values_above(double share, int64_t count);

// For many streams of values (one per filter), without keeping them, the threshold T that `share`
// of a stream exceeds: its (m + 1)-th largest value, m = values_above, so that the values > T are
// m, or, where ties forbid m, the largest possible number below it. NaN counts as -inf, -0 as 0.
// share in [0, 1). Without values T is 0. A float's bits, put in the order of its value, are found
// 12, 10 and 10 at a time by counting, one pass over the values for each. 16 kB a stream, whatever
// the number of values, which is given beforehand: the (m + 1)-th largest of the values seen so far
// is a bound for T, and what lies below is passed over from the first pass on. Counts are whole
// numbers, so the result is exact for any order of the values.
//   UpperQuantiles quantiles(values_per_filter, share);
//   do { for (all values) quantiles.add(filter, values); } while (quantiles.end_pass());
class UpperQuantiles {
 public:
  // [streams]: the number of values of each, below 2^32
  UpperQuantiles(std::span<const int64_t> values, double share);

  // Different streams may be fed from different threads.
  void add(int64_t stream, std::span<const float> values);

  // Values below this one, and NaN, change nothing from here on and may be left out of this pass.
  [[nodiscard]] float needed_from(int64_t stream) const { return searches_[stream].least; }

  // True if another pass over the same values is needed.
  bool end_pass();

  // After the last pass.
  [[nodiscard]] float threshold(int64_t stream) const;

 private:
  struct Search {
    uint32_t prefix = 0;  // of the ordered bits found so far
    int64_t size = 0;     // values that begin with it
    int64_t above = 0;    // how many of them may lie above the threshold
    float least = 0.0F;
    int64_t lowest = 0;   // in the first pass: the threshold's bucket is not below this one,
    int64_t counted = 0;  // and so many values were counted from there on
  };
  void raise(Search& search, const uint32_t* counts) const;

  int pass_ = 0;
  std::vector<Search> searches_;
  std::vector<uint32_t> counts_;  // [streams, buckets of a pass]
};

}  // namespace partwise::metrics
