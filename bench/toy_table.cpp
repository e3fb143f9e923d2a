// The toy table of docs/notebook.md: every rule on free maps at activation scales 1, 10 and 100.
#include "partwise/parts/toy_maps_fixture.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace partwise::parts;

struct Row {
  std::string name;
  PartOptions options;
  bool ascend = false;
};

Row row(const std::string& name, Rule rule, bool ours, bool ascend = false) {
  PartOptions options;
  options.rule = rule;
  if (!ours) {
    options.exponent = Exponent::raw;
    options.misfits = Misfits::reversed;
    options.balance = rule == Rule::release ? Balance::category : Balance::none;
  }
  return {name, options, ascend};
}

std::vector<Row> rows() {
  auto centroid = row("release, centroid (the authors' code)", Rule::release, false);
  centroid.options.peak = Peak::centroid;
  auto kept = row("release, scale-free, misfits reversed", Rule::release, true);
  kept.options.misfits = Misfits::reversed;
  return {row("exact -MI, tau = 0.5/n^2", Rule::exact, false),
          row("paper, with the minus", Rule::paper, false),
          row("paper, sign as printed", Rule::paper, false, true),
          row("release, argmax", Rule::release, false),
          centroid,
          row("exact, scale-free", Rule::exact, true),
          row("paper, scale-free, misfits ignored", Rule::paper, true),
          kept,
          row("**release, scale-free, misfits ignored (default)**", Rule::release, true)};
}

}  // namespace

int main() {
  constexpr int kSeeds = 5;
  fmt::print(
      "| rule | scale | purity before | purity after (lowest, highest) | loudest negative | "
      "effective share |\n|---|---|---|---|---|---|\n");
  for (const auto& [name, options, ascend] : rows()) {
    for (const double scale : {1.0, 10.0, 100.0}) {
      double before = 0.0;
      double after = 0.0;
      double negative = 0.0;
      double effective = 0.0;
      double lowest = 1.0;
      double highest = 0.0;
      for (int seed = 1; seed <= kSeeds; ++seed) {
        const auto outcome =
            partwise::parts::move_free_maps(options, scale, static_cast<uint64_t>(seed), ascend);
        before += outcome.purity_before / kSeeds;
        after += outcome.purity / kSeeds;
        negative += outcome.loudest_negative / kSeeds;
        effective += outcome.effective_samples / kSeeds;
        lowest = std::min(lowest, outcome.purity);
        highest = std::max(highest, outcome.purity);
      }
      fmt::print("| {} | {:g} | {:.2f} | {:.2f} ({:.2f}, {:.2f}) | x {:.2f} | {:.2f} |\n", name,
                 scale, before, after, lowest, highest, negative, effective);
    }
  }
}
