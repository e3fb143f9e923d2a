#include "partwise/explaining/faithfulness.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

namespace partwise::explaining {
namespace {

using metrics::kNaN;

constexpr std::size_t kLeastToRank = 3;

bool constant(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
}

// 0-based ranks; those that tie share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double mean = static_cast<double>(first + end - 1) / 2.0;
    for (; first < end; ++first) ranks[order[first]] = mean;
  }
  return ranks;
}

double positive_sum(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += std::max(value, 0.0);
  return sum;
}

PartSet all_parts(std::size_t parts) {
  return (PartSet{1} << parts) - 1;
}

std::vector<double> sums_of_pairs(std::span<const double> values) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) sums.push_back(values[i] + values[j]);
  }
  return sums;
}

// Of one image at one threshold.
struct Checks {
  double preservation = kNaN;
  double deletion = kNaN;
  double distractibility = kNaN;  // NaN without idle parts
};

Checks check_parts(const Trial& trial, PartSet important, PartSet idle) {
  const auto others = all_parts(static_cast<std::size_t>(trial.parts)) & ~important;
  Checks checks;
  checks.preservation = trial.still_decided(others) ? 1.0 : 0.0;
  checks.deletion = trial.still_decided(important) ? 0.0 : 1.0;
  if (idle != 0)
    checks.distractibility = 1.0 - static_cast<double>(std::popcount(important & idle)) /
                                       static_cast<double>(std::popcount(idle));
  return checks;
}

// NaN counts for nothing.
double counted_mean(std::span<const double> numbers, std::span<const int32_t> counts) {
  metrics::ExistingMean mean;
  for (std::size_t i = 0; i < numbers.size(); ++i) mean.add(numbers[i], counts[i]);
  return mean.value();
}

// Checks of all images, and the one number of them for images that count so often.
struct CheckColumns {
  std::vector<double> preservation;
  std::vector<double> deletion;
  std::vector<double> distractibility;

  void add(const Checks& checks) {
    preservation.push_back(checks.preservation);
    deletion.push_back(checks.deletion);
    distractibility.push_back(checks.distractibility);
  }
  [[nodiscard]] double completeness(std::span<const int32_t> counts) const {
    const auto mean = [&](const std::vector<double>& numbers) {
      return counted_mean(numbers, counts);
    };
    return ((mean(preservation) + mean(deletion)) / 2.0 + mean(distractibility)) / 2.0;
  }
};

// One half of the trials at one threshold; the other half counts for nothing.
CheckColumns check_half(std::span<const Trial> trials,
                        std::span<const Claim> claims,
                        double threshold,
                        std::size_t half) {
  CheckColumns columns;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    columns.add(i % 2 == half
                    ? check_parts(trials[i], important_parts(claims[i].decided, threshold),
                                  trials[i].idle())
                    : Checks{});
  }
  return columns;
}

double choose_threshold(std::span<const Trial> trials, std::span<const Claim> claims) {
  const std::vector<int32_t> once(trials.size(), 1);
  double best = -1.0;
  double chosen = important_thresholds().front();
  for (const double threshold : important_thresholds()) {
    const double found = check_half(trials, claims, threshold, 0).completeness(once);
    if (found > best) {
      best = found;
      chosen = threshold;
    }
  }
  return chosen;
}

double target_sensitivity(const Trial& trial, const Claim& claim) {
  if (trial.runner_up < 0) return kNaN;
  const auto truth = trial.drops(trial.runner_up);
  const double asked = rank_correlation(claim.runner_up, truth);
  const double other = rank_correlation(claim.decided, truth);
  if (std::isnan(asked)) return kNaN;
  return asked > other ? 1.0 : asked < other ? 0.0 : 0.5;
}

int64_t existing(std::span<const double> numbers) {
  return std::count_if(numbers.begin(), numbers.end(), [](double n) { return !std::isnan(n); });
}

}  // namespace

double Trial::drop(PartSet without, int64_t which) const {
  const auto at = static_cast<std::size_t>(which);
  const auto found = answers.find(without);
  expects(found != answers.end(), "nobody asked without parts {:b}", without);
  return answers.at(0).at(at) - found->second.at(at);
}

std::vector<double> Trial::drops(int64_t which) const {
  std::vector<double> found;
  for (int64_t part = 0; part < parts; ++part) found.push_back(drop(PartSet{1} << part, which));
  return found;
}

std::vector<double> Trial::pair_drops(int64_t which) const {
  std::vector<double> found;
  for (int64_t i = 0; i < parts; ++i) {
    for (int64_t j = i + 1; j < parts; ++j)
      found.push_back(drop(PartSet{1} << i | PartSet{1} << j, which));
  }
  return found;
}

bool Trial::still_decided(PartSet without) const {
  const auto found = answers.find(without);
  expects(found != answers.end(), "nobody asked without parts {:b}", without);
  const auto& scores = found->second;
  return std::max_element(scores.begin(), scores.end()) - scores.begin() == decided;
}

PartSet Trial::idle(double share) const {
  const double score = std::abs(answers.at(0).at(static_cast<std::size_t>(decided)));
  PartSet set = 0;
  for (int64_t part = 0; part < parts; ++part) {
    const PartSet alone = PartSet{1} << part;
    if (std::abs(drop(alone, decided)) < share * score) set |= alone;
  }
  return set;
}

double rank_correlation(std::span<const double> claimed, std::span<const double> truth) {
  expects(claimed.size() == truth.size(), "{} claims for {} drops", claimed.size(), truth.size());
  if (truth.size() < kLeastToRank || constant(truth)) return kNaN;
  if (constant(claimed)) return 0.0;
  const auto a = ranks_of(claimed);
  const auto b = ranks_of(truth);
  const double middle = static_cast<double>(a.size() - 1) / 2.0;
  double ab = 0.0;
  double aa = 0.0;
  double bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  return ab / std::sqrt(aa * bb);
}

double top_part_agreement(std::span<const double> claimed, std::span<const double> drops) {
  if (claimed.empty()) return kNaN;
  const double claim = *std::max_element(claimed.begin(), claimed.end());
  const double hurt = *std::max_element(drops.begin(), drops.end());
  metrics::ExistingMean mean;
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (claimed[i] == claim) mean.add(drops[i] == hurt ? 1.0 : 0.0);
  }
  return mean.value();
}

double idle_share(std::span<const double> claimed, PartSet idle) {
  const double sum = positive_sum(claimed);
  if (idle == 0 || !(sum > 0.0)) return kNaN;
  double of_idle = 0.0;
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (((idle >> i) & 1U) != 0) of_idle += std::max(claimed[i], 0.0);
  }
  return of_idle / sum;
}

PartSet important_parts(std::span<const double> claimed, double threshold) {
  const double least = threshold * positive_sum(claimed);
  PartSet set = 0;
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (claimed[i] > 0.0 && claimed[i] > least) set |= PartSet{1} << i;
  }
  return set;
}

std::vector<double> important_thresholds() {
  std::vector<double> thresholds;
  for (int step = 1; step <= 25; ++step) thresholds.push_back(0.02 * step);
  return thresholds;
}

std::vector<PartSet> asked_sets(std::span<const double> claimed) {
  std::set<PartSet> sets;
  for (const double threshold : important_thresholds()) {
    const auto important = important_parts(claimed, threshold);
    sets.insert(important);
    sets.insert(all_parts(claimed.size()) & ~important);
  }
  return {sets.begin(), sets.end()};
}

metrics::Finding mean_over_images(std::span<const double> numbers,
                                  const metrics::BootstrapOptions& bootstrap) {
  auto finding = metrics::finding_of_rows(std::ssize(numbers), bootstrap,
                                          [&](std::span<const int32_t> counts) {
                                            metrics::ExistingMean mean;
                                            for (std::size_t i = 0; i < numbers.size(); ++i)
                                              mean.add(numbers[i], counts[i]);
                                            return mean.value();
                                          });
  finding.facts["n"] = existing(numbers);
  return finding;
}

MethodScores score_method(std::span<const Trial> trials,
                          std::span<const Claim> claims,
                          const metrics::BootstrapOptions& bootstrap) {
  expects(trials.size() == claims.size(), "{} claims for {} images", claims.size(), trials.size());
  MethodScores result;
  result.threshold = choose_threshold(trials, claims);
  const auto add = [&](Protocol protocol, const std::vector<double>& numbers) {
    result.scores[protocol] = mean_over_images(numbers, bootstrap);
  };
  const auto add_each = [&](Protocol protocol, const auto& number) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < trials.size(); ++i) numbers.push_back(number(trials[i], claims[i]));
    add(protocol, numbers);
  };
  add_each(Protocol::single_deletion, [](const Trial& trial, const Claim& claim) {
    return rank_correlation(claim.decided, trial.drops(trial.decided));
  });
  add_each(Protocol::pairs, [](const Trial& trial, const Claim& claim) {
    return rank_correlation(sums_of_pairs(claim.decided), trial.pair_drops(trial.decided));
  });
  add_each(Protocol::top_part, [](const Trial& trial, const Claim& claim) {
    return top_part_agreement(claim.decided, trial.drops(trial.decided));
  });
  add_each(Protocol::idle_share, [](const Trial& trial, const Claim& claim) {
    return idle_share(claim.decided, trial.idle());
  });
  add_each(Protocol::elsewhere, [](const Trial&, const Claim& claim) { return claim.elsewhere; });
  add_each(Protocol::target_sensitivity, target_sensitivity);
  const auto checks = check_half(trials, claims, result.threshold, 1);
  add(Protocol::preservation, checks.preservation);
  add(Protocol::deletion, checks.deletion);
  add(Protocol::distractibility, checks.distractibility);
  auto& completeness = result.scores[Protocol::completeness];
  completeness = metrics::finding_of_rows(
      std::ssize(trials), bootstrap,
      [&](std::span<const int32_t> counts) { return checks.completeness(counts); });
  completeness.facts["n"] = existing(checks.preservation);
  return result;
}

}  // namespace partwise::explaining
