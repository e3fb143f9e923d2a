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

Row published(const std::string& name, Rule rule, bool ascend = false) {
  auto options = method_options(rule == Rule::release ? Method::release : Method::paper);
  options.rule = rule;
  options.peak = Peak::argmax;
  options.beta_rule = BetaRule::fixed;
  return {name, options, ascend};
}

Row ours(const std::string& name, Rule rule, Misfits misfits) {
  PartOptions options;
  options.rule = rule;
  options.misfits = misfits;
  return {name, options};
}

std::vector<Row> rows() {
  auto centroid = published("release, centroid, learned beta (the authors' code)", Rule::release);
  centroid.options = method_options(Method::release);
  auto uniform = published("paper, with the minus, p(x) = 1/N", Rule::paper);
  uniform.options.marginal = Marginal::uniform;
  return {published("exact -MI, tau = 0.5/n^2", Rule::exact),
          published("paper, all templates, Z frozen", Rule::paper_all),
          published("paper, with the minus", Rule::paper),
          uniform,
          published("paper, sign as printed", Rule::paper, true),
          published("release, argmax, fixed beta", Rule::release),
          centroid,
          ours("exact, scale-free", Rule::exact, Misfits::reversed),
          ours("paper, scale-free, misfits reversed", Rule::paper, Misfits::reversed),
          ours("paper, scale-free, misfits ignored", Rule::paper, Misfits::ignored),
          ours("release, scale-free, misfits ignored", Rule::release, Misfits::ignored),
          ours("**release, scale-free, misfits reversed (default)**", Rule::release,
               Misfits::reversed)};
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
