#include "partwise/explaining/confusions.h"

#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/models/decisions.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <map>

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
    parts.push_back({name, mean(spoken.contrast, wrong.size()),
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

std::vector<ConfusedPair> confused_pairs(const Explainer& explainer,
                                         const models::Task& task,
                                         const models::Examples& examples,
                                         const std::string& device,
                                         const ConfusionOptions& options) {
  const auto names = models::class_names(task);
  const auto [decided, truth] = models::decide(explainer.model().network, task, examples, device);
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> rows;
  std::map<int64_t, std::vector<int64_t>> right;
  std::map<int64_t, int64_t> count;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    ++count[truth[row]];
    if (truth[row] == decided[row]) {
      right[truth[row]].push_back(static_cast<int64_t>(row));
    } else {
      rows[{truth[row], decided[row]}].push_back(static_cast<int64_t>(row));
    }
  }
  const auto explain = [&](int64_t row, int64_t against, int64_t outlined) {
    return explainer.explain_crop(examples.pixels[row], {names[static_cast<std::size_t>(against)],
                                                         outlined, /*filters=*/false});
  };
  std::vector<ConfusedPair> pairs;
  Progress progress("explaining", std::ssize(rows), "confused pairs");
  for (const auto& [pair, mistaken] : rows) {
    if (interrupt_requested()) throw Interrupted("interrupted while explaining mistakes");
    const auto [was, seemed] = pair;
    ConfusedPair found{names[static_cast<std::size_t>(was)],
                       names[static_cast<std::size_t>(seemed)],
                       count[was],
                       {},
                       {}};
    std::vector<Explanation> wrong;
    for (std::size_t i = 0; i < mistaken.size() && std::cmp_less(i, options.mistakes); ++i) {
      auto explanation = explain(mistaken[i], was, 4);
      wrong.push_back(explanation);
      found.mistakes.push_back({mistaken[i], std::move(explanation)});
    }
    auto controls = right[was];
    Random random(
        derive_seed({options.seed, static_cast<uint64_t>(was), static_cast<uint64_t>(seemed)}));
    shuffle(controls, random);
    std::vector<Explanation> usual;
    for (std::size_t i = 0; i < controls.size() && std::cmp_less(i, options.controls); ++i)
      usual.push_back(reversed(explain(controls[i], seemed, 0)));
    found.parts = parts_in_pair(wrong, usual);
    pairs.push_back(std::move(found));
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
