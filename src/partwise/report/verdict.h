#pragma once

#include "partwise/report/findings.h"
#include "partwise/report/glossary.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::report {

enum class Relation { higher, lower, indistinct, undefined };

// Higher or lower only if the 95 % intervals do not even touch; undefined where one is missing.
Relation relate(const Measure& a, const Measure& b);
// A control is one number without an interval.
Relation relate(const Measure& a, std::optional<double> control);
// Several runs of an arm: only what holds for every pair of runs is said.
Relation relate(std::span<const Measure> a, std::span<const Measure> b);

// Same network, task, loss, split, images and categories: only such runs may be compared.
bool comparable(const RunFindings& a, const RunFindings& b);
std::vector<std::vector<RunFindings>> comparable_groups(std::span<const RunFindings> runs);

// "Is A's number different from B's?" for one number.
struct Claim {
  const MetricWords* metric = nullptr;
  std::string role;  // of the layer; "" for the whole network
  std::string subject;
  std::string other;  // an arm, or a control's name
  bool is_control = false;
  Relation relation = Relation::undefined;
  std::string subject_value;
  std::string other_value;
  std::optional<double> difference;
};

// The arm nearest to the full method against every other arm and against every control, in all
// layers both have. `runs` must be comparable.
std::vector<Claim> claims(std::span<const RunFindings> runs);

// "better", "worse", "not distinguishable" or "not defined".
std::string judgement(const Claim& claim);

struct Verdict {
  std::vector<std::string> sentences;
  std::string basis;  // where it was measured and how the words are meant
};

// Plain sentences for comparable runs that say nothing the claims do not support.
Verdict verdict(std::span<const RunFindings> runs);

// What a reader should know before believing the numbers, found in the numbers themselves.
std::vector<std::string> warnings(std::span<const RunFindings> runs);

// "95.8 %" or "0.783"; "–" where there is none.
std::string shown(const MetricWords& metric, std::optional<double> value);
// "0.783 [0.751, 0.812]"
std::string shown(const MetricWords& metric, const Measure& measure);

}  // namespace partwise::report
