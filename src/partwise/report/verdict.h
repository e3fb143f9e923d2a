#pragma once

#include "partwise/findings/run_comparison.h"
#include "partwise/report/glossary.h"

#include <limits>
#include <span>
#include <string>
#include <vector>

namespace partwise::report {

using metrics::Relation;

// Runs of the same network, task, loss, split, images, categories and options of measuring: only
// such may be compared.
bool are_comparable(const RunFindings& first, const RunFindings& second);
std::vector<std::vector<RunFindings>> comparable_groups(std::span<const RunFindings> runs);

// The catalogue's numbers that lead, of the whole network or of a layer.
std::vector<NumberWords> leading_numbers(bool of_network);

// "Is A's number different from B's?" for one number, by findings::compare: what `partwise compare`
// says of two runs, the report says too. Of several runs of an arm only what holds for every pair
// is said.
struct Claim {
  const NumberWords* metric = nullptr;
  std::string role;  // of the layer; "" for the whole network
  std::string subject;
  std::string other;  // an arm, or a control's name
  bool is_control = false;
  Relation relation = Relation::undefined;  // of the subject to the other
  std::string subject_value = {};
  std::string other_value = {};
  double difference = std::numeric_limits<double>::quiet_NaN();  // of the means
  double low = std::numeric_limits<double>::quiet_NaN();         // where one pair was compared
  double high = std::numeric_limits<double>::quiet_NaN();
};

// The arm nearest to the full method against every other arm and against every control, in all
// layers both have. `runs` must be comparable.
std::vector<Claim> claims(std::span<const RunFindings> runs);

// "better", "worse", "higher", "lower" (where neither is better), "not distinguishable" or "not
// defined".
std::string judgement(const Claim& claim);

// "+3.1 points [+1.2, +5.0]": with the interval where one pair of runs was compared.
std::string shown_difference(const Claim& claim);

// The control that is hardest to pass; "" without any.
std::string hardest_control(const NumberWords& metric, const Finding& finding);

struct Verdict {
  // What the network gets right, whether its filters stand for parts against their own hardest
  // control, and whether that costs accuracy.
  std::vector<std::string> sentences;
  std::string basis;  // where it was measured and how the words are meant
};

// Plain sentences for comparable runs, that say nothing the claims do not support.
Verdict verdict(std::span<const RunFindings> runs);

// What is wrong with how a layer's filters are at work: many silent ones, a category without any,
// images on which nothing fires.
std::vector<std::string> silence_warnings(const RunFindings& run, const LayerFindings& layer);

// What a reader should know before believing the numbers, found in the numbers themselves.
std::vector<std::string> warnings(std::span<const RunFindings> runs);

// "95.8 %" or "0.783"; "–" where there is none.
std::string shown(const NumberWords& metric, double value);
// "0.783 [0.751, 0.812]"
std::string shown(const NumberWords& metric, const Finding& finding);

}  // namespace partwise::report
