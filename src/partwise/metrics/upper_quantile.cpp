#include "partwise/metrics/upper_quantile.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace partwise::metrics {
namespace {

constexpr std::array<unsigned, 3> kBits{12, 10, 10};  // found in each pass
constexpr std::array<unsigned, 3> kShift{20, 10, 0};  // bits below those of the pass
constexpr int64_t kBuckets = int64_t{1} << kBits[0];
constexpr uint32_t kSign = 0x80000000U;

float comparable(float value) {
  if (std::isnan(value)) return -std::numeric_limits<float>::infinity();
  return value == 0.0F ? 0.0F : value;
}

// Bits whose order as whole numbers is the order of the floats, and back.
uint32_t ordered_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(comparable(value));
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

float float_of(uint32_t ordered) {
  return std::bit_cast<float>((ordered & kSign) != 0 ? ordered & ~kSign : ~ordered);
}

// The bits above those of pass `pass`; none before the first.
uint32_t prefix_of(uint32_t ordered, int pass) {
  return pass == 0 ? 0 : ordered >> kShift[pass - 1];
}

}  // namespace

int64_t values_above(double share, int64_t count) {
  return static_cast<int64_t>(std::floor(share * static_cast<double>(count) + 1e-9));
}

UpperQuantiles::UpperQuantiles(std::span<const int64_t> values, double share)
    : counts_(values.size() * static_cast<std::size_t>(kBuckets)) {
  expects(share >= 0.0 && share < 1.0, "a share of {} cannot lie above a threshold", share);
  for (const int64_t size : values) {
    expects(size >= 0 && size <= std::numeric_limits<uint32_t>::max(),
            "a quantile of {} values cannot be counted", size);
    searches_.push_back({.size = size,
                         .above = values_above(share, size),
                         .least = -std::numeric_limits<float>::infinity()});
  }
}

void UpperQuantiles::add(int64_t stream, std::span<const float> values) {
  expects(pass_ < std::ssize(kBits), "the quantiles are found; nothing can be added");
  auto& search = searches_[stream];
  int any = 0;  // few maps have a value that counts, and this loop looks at several at a time
  for (const float value : values) any |= value >= search.least ? 1 : 0;
  if (any == 0) return;
  uint32_t* counts = counts_.data() + stream * kBuckets;
  const unsigned shift = kShift[pass_];
  const uint32_t mask = (1U << kBits[pass_]) - 1U;
  for (const float value : values) {
    if (!(value >= search.least)) continue;
    const uint32_t ordered = ordered_bits(value);
    if (prefix_of(ordered, pass_) != search.prefix) continue;
    ++counts[(ordered >> shift) & mask];
    ++search.counted;
  }
  if (pass_ == 0) raise(search, counts);
}

void UpperQuantiles::raise(Search& search, const uint32_t* counts) const {
  for (; search.counted - counts[search.lowest] > search.above; ++search.lowest)
    search.counted -= counts[search.lowest];
  // The lowest bits of a bucket may stand for NaN, which lies below everything.
  search.least = comparable(float_of(static_cast<uint32_t>(search.lowest) << kShift[0]));
}

bool UpperQuantiles::end_pass() {
  const uint32_t lowest = ordered_bits(-std::numeric_limits<float>::infinity());
  for (std::size_t stream = 0; stream < searches_.size(); ++stream) {
    auto& search = searches_[stream];
    if (search.size == 0) {  // a stream without values has the threshold 0
      search.prefix = ordered_bits(0.0F) >> kShift[pass_];
      continue;
    }
    const auto counts = std::span(counts_).subspan(stream * kBuckets, kBuckets);
    const int64_t counted = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    expects(counted == search.size || pass_ == 0 || search.prefix == prefix_of(lowest, pass_),
            "a pass of {} values after one of {}", counted, search.size);
    // What was left out lies below the threshold, or the threshold is -inf.
    counts[(lowest >> kShift[pass_]) & ((1U << kBits[pass_]) - 1U)] +=
        static_cast<uint32_t>(search.size - counted);
    int64_t bucket = (int64_t{1} << kBits[pass_]) - 1;
    for (; search.above >= counts[bucket]; --bucket) search.above -= counts[bucket];
    search.size = counts[bucket];
    search.prefix = (search.prefix << kBits[pass_]) | static_cast<uint32_t>(bucket);
    search.least = comparable(float_of(search.prefix << kShift[pass_]));
  }
  std::fill(counts_.begin(), counts_.end(), 0);
  return ++pass_ < std::ssize(kBits);
}

float UpperQuantiles::threshold(int64_t stream) const {
  expects(pass_ == std::ssize(kBits), "only {} of {} passes were made", pass_, kBits.size());
  return float_of(searches_[stream].prefix);
}

}  // namespace partwise::metrics
