#pragma once

#include "partwise/metrics/finding.h"

#include <string>

namespace partwise::metrics {

// Second minus first, with its 95 % interval.
struct Comparison {
  double difference = 0.0;
  double low = 0.0;
  double high = 0.0;
  bool paired = false;  // draw by draw, not from the two intervals
};

// What may be said of the second number.
enum class Relation { higher, lower, indistinct, undefined };

// Higher or lower only where the interval leaves out 0; undefined where something is missing.
Relation relation(const Comparison& comparison);

// "higher", "lower", "not distinguishable", "not defined".
std::string words_for(Relation relation);

// Two findings of one metric. drawn_together: draw r took the same rows for both (the same images,
// seed and number of draws). Then the draws are paired, so that what is hard in an image is hard
// for both and cancels; the filters are those of two nets and drawn apart, the first's own draws
// against the second's partner; centred on the difference; draws in which either number does not
// exist are left out. Otherwise, or where there are no draws, the numbers are taken for independent
// and the interval is put together from theirs (Zou and Donner 2008):
//   difference - sqrt((second - second.low)^2 + (first.high - first)^2), and likewise above.
Comparison compare(const Finding& first, const Finding& second, bool drawn_together);

// A finding against a number without an interval: finding minus control.
Comparison compare_with_control(double control, const Finding& finding);

}  // namespace partwise::metrics
