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

constexpr std::array<unsigned, 3> kBits{11, 11, 10};  // found in each pass
constexpr std::array<unsigned, 3> kShift{21, 10, 0};  // bits below those of the pass
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

UpperQuantiles::UpperQuantiles(int64_t streams, double share)
    : share_(share),
      searches_(static_cast<std::size_t>(streams)),
      counts_(static_cast<std::size_t>(streams * kBuckets)) {
  expects(share >= 0.0 && share < 1.0, "a share of {} cannot lie above a threshold", share);
}

void UpperQuantiles::add(int64_t stream, std::span<const float> values) {
  expects(pass_ < std::ssize(kBits), "the quantiles are found; nothing can be added");
  int64_t* counts = counts_.data() + stream * kBuckets;
  const unsigned shift = kShift[pass_];
  const uint32_t mask = (1U << kBits[pass_]) - 1U;
  const uint32_t prefix = searches_[stream].prefix;
  for (const float value : values) {
    const uint32_t ordered = ordered_bits(value);
    if (prefix_of(ordered, pass_) == prefix) ++counts[(ordered >> shift) & mask];
  }
}

float UpperQuantiles::needed_from(int64_t stream) const {
  if (pass_ == 0) return -std::numeric_limits<float>::infinity();
  // The lowest bits of a bucket may stand for NaN, which lies below everything.
  return comparable(float_of(searches_[stream].prefix << kShift[pass_ - 1]));
}

bool UpperQuantiles::end_pass() {
  for (std::size_t stream = 0; stream < searches_.size(); ++stream) {
    auto& search = searches_[stream];
    const auto counts = std::span(counts_).subspan(stream * kBuckets, kBuckets);
    const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    if (pass_ == 0) {
      search.above = values_above(share_, total);
      // A stream without values has the threshold 0.
      if (total == 0) search.prefix = ordered_bits(0.0F) >> kShift[0];
    }
    expects(total > search.above || total == 0, "a pass of {} values after one with more", total);
    if (total > 0) {
      int64_t bucket = (int64_t{1} << kBits[pass_]) - 1;
      for (; search.above >= counts[bucket]; --bucket) search.above -= counts[bucket];
      search.prefix = (search.prefix << kBits[pass_]) | static_cast<uint32_t>(bucket);
    } else if (pass_ > 0) {
      search.prefix <<= kBits[pass_];
    }
  }
  std::fill(counts_.begin(), counts_.end(), 0);
  return ++pass_ < std::ssize(kBits);
}

float UpperQuantiles::threshold(int64_t stream) const {
  expects(pass_ == std::ssize(kBits), "only {} of {} passes were made", pass_, kBits.size());
  return float_of(searches_[stream].prefix);
}

}  // namespace partwise::metrics
