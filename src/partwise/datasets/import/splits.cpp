#include "partwise/datasets/import/splits.h"

#include "partwise/base/random.h"

#include <algorithm>
#include <cmath>

namespace partwise::datasets {
namespace {

void sort_ids(Splits& splits) {
  for (auto& [name, ids] : splits) std::sort(ids.begin(), ids.end());
}

// Images that must stay on one side.
using Group = std::vector<int64_t>;

std::map<int64_t, std::vector<Group>> groups_of_strata(const std::vector<SplitEntry>& entries) {
  std::map<int64_t, std::vector<Group>> strata;
  std::map<std::string, std::pair<int64_t, std::size_t>> seen;  // content -> stratum, group
  for (const auto& entry : entries) {
    if (entry.image_id == 0) continue;
    auto& groups = strata[entry.stratum];
    const auto [place, fresh] =
        seen.emplace(entry.content, std::pair(entry.stratum, groups.size()));
    if (fresh) {
      groups.push_back({entry.image_id});
    } else {
      strata[place->second.first][place->second.second].push_back(entry.image_id);
    }
  }
  return strata;
}

}  // namespace

std::vector<int64_t> release_training(int64_t count) {
  const int64_t taken = std::llround(0.9 * static_cast<double>(count));
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < taken; ++i) {
    // linspace of one point is its end.
    const double share = taken == 1 ? 1.0 : static_cast<double>(i) / static_cast<double>(taken - 1);
    positions.push_back(std::llround(share * static_cast<double>(count - 1)));
  }
  return positions;
}

Splits paper_splits(const std::vector<SplitEntry>& entries) {
  std::map<int64_t, std::vector<const SplitEntry*>> strata;
  Splits splits{{"train", {}}, {"test", {}}};
  for (const auto& entry : entries) {
    if (!entry.official_train) {
      strata[entry.stratum].push_back(&entry);
    } else if (entry.image_id != 0) {
      splits[*entry.official_train ? "train" : "test"].push_back(entry.image_id);
    }
  }
  for (const auto& [stratum, members] : strata) {
    std::vector<bool> training(members.size(), false);
    for (const int64_t at : release_training(static_cast<int64_t>(members.size()))) {
      training[static_cast<std::size_t>(at)] = true;
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i]->image_id == 0) continue;
      splits[training[i] ? "train" : "test"].push_back(members[i]->image_id);
    }
  }
  sort_ids(splits);
  return splits;
}

Splits clean_splits(const std::vector<SplitEntry>& entries, double test_share, int64_t seed) {
  constexpr uint64_t kPurpose = 0x636C65616EULL;
  Splits splits{{"train", {}}, {"test", {}}};
  for (auto& [stratum, groups] : groups_of_strata(entries)) {
    int64_t images = 0;
    for (const auto& group : groups) images += static_cast<int64_t>(group.size());
    int64_t wanted = std::llround(test_share * static_cast<double>(images));
    if (test_share > 0.0 && groups.size() > 1) wanted = std::max<int64_t>(wanted, 1);
    Random random(
        derive_seed({static_cast<uint64_t>(seed), kPurpose, static_cast<uint64_t>(stratum)}));
    shuffle(groups, random);
    for (const auto& group : groups) {
      const bool test = wanted >= static_cast<int64_t>(group.size());
      if (test) wanted -= static_cast<int64_t>(group.size());
      auto& side = splits[test ? "test" : "train"];
      side.insert(side.end(), group.begin(), group.end());
    }
  }
  sort_ids(splits);
  return splits;
}

namespace {

// Where what is held out of the rest belongs: a test split of negatives alone would judge nothing.
std::string held_out_of(const Splits& own) {
  for (const auto* name : {"test", "validation", "val"}) {
    if (own.contains(name)) return name;
  }
  return "train";
}

}  // namespace

Splits own_splits(const std::vector<SplitEntry>& entries, double test_share, int64_t seed) {
  std::vector<SplitEntry> others;
  Splits splits;
  for (const auto& entry : entries) {
    if (entry.own_split.empty()) {
      others.push_back(entry);
    } else if (entry.image_id != 0) {
      splits[entry.own_split].push_back(entry.image_id);
    }
  }
  if (splits.empty()) return clean_splits(entries, test_share, seed);
  if (!others.empty()) {
    const auto held_out = held_out_of(splits);
    for (const auto& [name, ids] : clean_splits(others, test_share, seed)) {
      auto& side = splits[name == "train" ? name : held_out];
      side.insert(side.end(), ids.begin(), ids.end());
    }
  }
  sort_ids(splits);
  return splits;
}

}  // namespace partwise::datasets
