#include "partwise/explaining/confusions.h"

#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/statistics.h"
#include "partwise/models/decisions.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace partwise::explaining {
namespace {

// Sums of a part's contrasts over explanations.
struct Spoken {
  double contrast = 0.0;
  double leading = 0.0;
  int64_t present = 0;
};

std::map<std::string, Spoken> spoken_in(std::span<const Explanation> explanations) {
  std::map<std::string, Spoken> parts;
  for (const auto& explanation : explanations) {
    const PartShare* leader = nullptr;
    for (const auto& part : explanation.parts) {
      auto& sum = parts[part.name];
      sum.contrast += part.contrast;
      ++sum.present;
      if (part.contrast > (leader ? leader->contrast : 0.0)) leader = &part;
    }
    if (leader) parts[leader->name].leading += 1.0;
  }
  return parts;
}

// Of the mean contrast of a part, 0 where it did not fire.
metrics::Finding interval_of(const std::string& name, std::span<const Explanation> explanations) {
  std::vector<double> contrasts;
  for (const auto& explanation : explanations) {
    double sum = 0.0;
    for (const auto& part : explanation.parts) sum += part.name == name ? part.contrast : 0.0;
    contrasts.push_back(sum);
  }
  if (contrasts.size() < 2) return {metrics::kNaN, metrics::kNaN, metrics::kNaN};
  const auto mean_of = [&](std::span<const int32_t> row_counts) {
    metrics::ExistingMean mean;
    for (std::size_t i = 0; i < contrasts.size(); ++i) mean.add(contrasts[i], row_counts[i]);
    return mean.value();
  };
  return metrics::finding_of_rows(std::ssize(contrasts), {}, mean_of);
}

std::vector<PartInPair> parts_in_pair(std::span<const Explanation> wrong,
                                      std::span<const Explanation> right) {
  const auto mistaken = spoken_in(wrong);
  const auto usual = spoken_in(right);
  std::vector<PartInPair> parts;
  const auto mean = [](double sum, std::size_t count) {
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
  };
  for (const auto& [name, spoken] : mistaken) {
    const auto found = usual.find(name);
    const auto interval = interval_of(name, wrong);
    parts.push_back({name, mean(spoken.contrast, wrong.size()), interval.low, interval.high,
                     mean(found == usual.end() ? 0.0 : found->second.contrast, right.size()),
                     mean(spoken.leading, wrong.size()), spoken.present});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const PartInPair& a, const PartInPair& b) {
    return a.contrast > b.contrast;
  });
  return parts;
}

// Turned round: what each part gave `other` above the decision.
Explanation reversed(Explanation explanation) {
  for (auto& part : explanation.parts) part.contrast = -part.contrast;
  return explanation;
}

}  // namespace

ConfusedPair confused_pair(const Explainer& explainer,
                           const models::Examples& examples,
                           const models::Decisions& decisions,
                           int64_t truth,
                           int64_t decided,
                           const ConfusionOptions& options) {
  const auto names = explainer.classes();
  const auto name_of = [&](int64_t which) { return names[static_cast<std::size_t>(which)]; };
  ConfusedPair found{name_of(truth), name_of(decided), 0, {}, {}};
  std::vector<int64_t> mistaken;
  std::vector<int64_t> controls;
  for (std::size_t row = 0; row < decisions.truth.size(); ++row) {
    if (decisions.truth[row] != truth) continue;
    ++found.of;
    if (decisions.decided[row] == decided) mistaken.push_back(static_cast<int64_t>(row));
    if (decisions.decided[row] == truth) controls.push_back(static_cast<int64_t>(row));
  }
  const auto explain = [&](int64_t row, int64_t against, int64_t outlined) {
    return explainer.explain_crop(examples.pixels[row],
                                  {name_of(against), outlined, /*filters=*/false});
  };
  std::vector<Explanation> wrong;
  for (std::size_t i = 0; i < mistaken.size() && std::cmp_less(i, options.mistakes); ++i) {
    auto explanation = explain(mistaken[i], truth, 4);
    wrong.push_back(explanation);
    found.mistakes.push_back({mistaken[i], std::move(explanation)});
  }
  Random random(
      derive_seed({options.seed, static_cast<uint64_t>(truth), static_cast<uint64_t>(decided)}));
  shuffle(controls, random);
  std::vector<Explanation> usual;
  for (std::size_t i = 0; i < controls.size() && std::cmp_less(i, options.controls); ++i)
    usual.push_back(reversed(explain(controls[i], decided, 0)));
  found.parts = parts_in_pair(wrong, usual);
  return found;
}

std::vector<ConfusedPair> confused_pairs(const Explainer& explainer,
                                         const models::Task& task,
                                         const models::Examples& examples,
                                         const std::string& device,
                                         const ConfusionOptions& options) {
  const auto decisions = models::decide(explainer.model().network, task, examples, device);
  std::set<std::pair<int64_t, int64_t>> confused;
  for (std::size_t row = 0; row < decisions.truth.size(); ++row) {
    if (decisions.truth[row] != decisions.decided[row])
      confused.emplace(decisions.truth[row], decisions.decided[row]);
  }
  std::vector<ConfusedPair> pairs;
  Progress progress("explaining", std::ssize(confused), "confused pairs");
  for (const auto& [was, seemed] : confused) {
    if (interrupt_requested()) throw Interrupted("interrupted while explaining mistakes");
    pairs.push_back(confused_pair(explainer, examples, decisions, was, seemed, options));
    progress.advance();
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const ConfusedPair& a, const ConfusedPair& b) {
    return a.mistakes.size() > b.mistakes.size();
  });
  return pairs;
}

nlohmann::json to_json(const ConfusedPair& pair) {
  auto parts = nlohmann::json::array();
  for (const auto& part : pair.parts) {
    parts.push_back({{"name", part.name},
                     {"contrast", part.contrast},
                     {"usual", part.usual},
                     {"leading", part.leading},
                     {"present", part.present}});
  }
  auto mistakes = nlohmann::json::array();
  for (const auto& mistake : pair.mistakes) mistakes.push_back(to_json(mistake.explanation));
  return {{"truth", pair.truth},
          {"decided", pair.decided},
          {"objects", pair.of},
          {"parts", std::move(parts)},
          {"mistakes", std::move(mistakes)}};
}

}  // namespace partwise::explaining
