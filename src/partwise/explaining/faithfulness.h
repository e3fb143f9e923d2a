#pragma once

#include "partwise/base/options.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/statistics.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace partwise::explaining {

// Holds what explanations claim of parts against what happens when parts are taken away. The
// protocols and their names are those of FunnyBirds (Hesse et al. 2023); docs/faithfulness.md says
// what differs.

using PartSet = uint32_t;  // bit p: the p-th visible part of an image

// One image that was decided right, and the network's answers to it with parts taken away.
struct Trial {
  int64_t parts = 0;       // that are visible
  int64_t decided = 0;     // class
  int64_t runner_up = -1;  // the class with the next score; -1: there is no other to ask about
  std::map<PartSet, std::vector<double>>
      answers;  // scores [class] by the parts taken away; 0: none

  // How far a class's score falls without these parts.
  [[nodiscard]] double drop(PartSet without, int64_t which) const;
  // Of each visible part alone; of each pair (0, 1), (0, 2), ... (1, 2), ...
  [[nodiscard]] std::vector<double> drops(int64_t which) const;
  [[nodiscard]] std::vector<double> pair_drops(int64_t which) const;
  [[nodiscard]] bool still_decided(PartSet without) const;
  // Parts without which the decided class's score moves by less than this share of its size.
  [[nodiscard]] PartSet idle(double share = 0.05) const;
};

// What a method says of one image: how much each visible part speaks for a class.
struct Claim {
  std::vector<double> decided;
  std::vector<double> runner_up;     // empty without a runner-up
  double elsewhere = metrics::kNaN;  // share of positive importance that lies on no visible part;
                                     // NaN where the question makes no sense
};

// Spearman's, ties averaged. NaN for fewer than three pairs or where `truth` is constant: there is
// nothing to agree with; 0 where `claimed` alone is.
double rank_correlation(std::span<const double> claimed, std::span<const double> truth);

// 1 where the largest claim is the largest drop; the mean over claims that tie for the largest.
double top_part_agreement(std::span<const double> claimed, std::span<const double> drops);

// The share of positive importance that idle parts claim; NaN without idle parts or without
// anything positive.
double idle_share(std::span<const double> claimed, PartSet idle);

// P(t): the parts with more than t times the sum of positive importance. A negative total cannot
// turn the threshold round.
PartSet important_parts(std::span<const double> claimed, double threshold);

// t = 0.02, 0.04, ... 0.5
std::vector<double> important_thresholds();

// Every set of parts whose absence important_parts can ask about: P taken away, all but P taken
// away.
std::vector<PartSet> asked_sets(std::span<const double> claimed);

// What each protocol asks. Higher is better, but for idle_share and elsewhere.
enum class Protocol {
  single_deletion,     // rank correlation with the drop when a part is taken away
  pairs,               // of sums of two parts with the drop when both are taken away
  top_part,            // is the part with the largest claim the one whose absence hurts most?
  idle_share,          // positive importance claimed by idle parts
  elsewhere,           // and by what is no visible part: background, other names
  preservation,        // only P is left: is the decision unchanged?
  deletion,            // P is taken away: is it changed?
  distractibility,     // 1 - |P and idle| / |idle|
  completeness,        // ((preservation + deletion) / 2 + distractibility) / 2
  target_sensitivity,  // asked for the runner-up, does the claim fit the runner-up's drops better?
};

struct MethodScores {
  double threshold = 0.0;  // chosen on the validation half
  // By protocol, each with facts "n": the images it is the mean of. The four checks of P are over
  // the half that chose nothing.
  std::map<Protocol, metrics::Finding> scores;
};

// One method over all trials. Trials 0, 2, 4, ... choose the threshold, by completeness.
MethodScores score_method(std::span<const Trial> trials,
                          std::span<const Claim> claims,
                          const metrics::BootstrapOptions& bootstrap);

// The mean of numbers of images, one number per image, NaN where it does not exist.
metrics::Finding mean_over_images(std::span<const double> numbers,
                                  const metrics::BootstrapOptions& bootstrap);

}  // namespace partwise::explaining

template <>
inline constexpr auto partwise::kWords<partwise::explaining::Protocol> =
    partwise::words("single_deletion",
                    "pairs",
                    "top_part",
                    "idle_share",
                    "elsewhere",
                    "preservation",
                    "deletion",
                    "distractibility",
                    "completeness",
                    "target_sensitivity");
