#include "partwise/metrics/comparison.h"

#include "partwise/metrics/bootstrap.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace partwise::metrics {
namespace {

Comparison paired(const Finding& first, const Finding& second) {
  std::vector<double> differences;
  differences.reserve(first.draws.own.size());
  for (std::size_t draw = 0; draw < first.draws.own.size(); ++draw)
    differences.push_back(second.draws.apart()[draw] - first.draws.own[draw]);
  const double difference = second.value - first.value;
  const auto interval = centred_interval(difference, {std::move(differences)});
  return {difference, interval.low, interval.high, true};
}

Comparison independent(const Finding& first, const Finding& second) {
  const double difference = second.value - first.value;
  const double below = std::hypot(second.value - second.low, first.high - first.value);
  const double above = std::hypot(second.high - second.value, first.value - first.low);
  return {difference, difference - below, difference + above, false};
}

}  // namespace

Relation relation(const Comparison& comparison) {
  if (!std::isfinite(comparison.difference) || !std::isfinite(comparison.low) ||
      !std::isfinite(comparison.high))
    return Relation::undefined;
  if (comparison.low > 0.0) return Relation::higher;
  return comparison.high < 0.0 ? Relation::lower : Relation::indistinct;
}

std::string words_for(Relation relation) {
  constexpr std::array kWords{"higher", "lower", "not distinguishable", "not defined"};
  return kWords.at(static_cast<std::size_t>(relation));
}

Comparison compare(const Finding& first, const Finding& second, bool drawn_together) {
  const bool alike = !first.draws.own.empty() &&
                     first.draws.own.size() == second.draws.own.size() &&
                     first.draws.own.size() == second.draws.apart().size();
  return drawn_together && alike ? paired(first, second) : independent(first, second);
}

Comparison compare_with_control(double control, const Finding& finding) {
  return {finding.value - control, finding.low - control, finding.high - control, false};
}

}  // namespace partwise::metrics
