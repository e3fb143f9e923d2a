#include "partwise/findings/run_comparison.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/metrics/statistics.h"

namespace partwise::findings {
namespace {

using metrics::kNaN;

bool is_of_bootstrap(const std::string& option) {
  bool found = false;
  for_each_field<metrics::BootstrapOptions>(
      [&](const auto& field) { found = found || option == field.name; });
  return found;
}

// The first option both know and that differs between them.
std::string differing_option(const RunFindings& a, const RunFindings& b, bool of_bootstrap) {
  for (const auto& [key, value] : a.options.items()) {
    const auto other = b.options.find(key);
    if (is_of_bootstrap(key) == of_bootstrap && other != b.options.end() && *other != value)
      return fmt::format("{} ({} and {})", key, value.dump(), other->dump());
  }
  return "";
}

std::string measure_command(const NamedFindings& run, const Wanted& wanted) {
  const auto flag = [](const char* name, const std::string& value) {
    return value.empty() ? "" : fmt::format(" --{} {}", name, value);
  };
  const auto split = wanted.split.empty() ? run.findings.split : wanted.split;
  return fmt::format("partwise measure {}{}{}{}", run.name, flag("data", wanted.data),
                     split == "test" ? "" : flag("split", split),
                     flag("metrics", join(wanted.extras, ",")));
}

void ensure_wanted(const NamedFindings& run, const Wanted& wanted) {
  const auto& found = run.findings;
  ensure(wanted.split.empty() || found.split == wanted.split,
         "{}: was measured on split '{}', not '{}'; run: {}", run.name, found.split, wanted.split,
         measure_command(run, wanted));
  ensure(wanted.data_hash.empty() || found.data_hash == wanted.data_hash,
         "{}: was measured on other data than {}; run: {}", run.name, wanted.data,
         measure_command(run, wanted));
  for (const auto& metric : metrics::catalogue()) {
    ensure(!metrics::wants(wanted.extras, metric.option) ||
               was_measured(found, metric.numbers.front().key),
           "{}: {} was not measured; run: {}", run.name, metric.option,
           measure_command(run, wanted));
  }
}

// Whether the number belongs to what was asked for.
bool is_wanted(const std::string& key, const Wanted& wanted) {
  const auto* metric = metrics::find_metric(key);
  return wanted.extras.empty() ||
         (metric != nullptr &&
          (metric->option.empty() || metrics::wants(wanted.extras, metric->option)));
}

}  // namespace

std::string difference_between(const RunFindings& first, const RunFindings& second) {
  const auto differ = [](const char* what, const auto& a, const auto& b) {
    return fmt::format("{} ({} and {})", what, a, b);
  };
  if (first.task != second.task) return differ("their task", first.task, second.task);
  if (first.split != second.split) return differ("their split", first.split, second.split);
  if (!first.data_hash.empty() && !second.data_hash.empty() && first.data_hash != second.data_hash)
    return differ("the data they were measured on", first.data_hash, second.data_hash);
  if (first.rows != second.rows)
    return differ("the number of images: is the loss another?", first.rows, second.rows);
  if (const auto option = differing_option(first, second, false); !option.empty())
    return "an option of measuring: " + option;
  return "";
}

std::string why_not_paired(const RunFindings& first, const RunFindings& second) {
  if (!first.without_draws.empty()) return first.without_draws;
  if (!second.without_draws.empty()) return second.without_draws;
  if (first.data_hash.empty() || first.data_hash != second.data_hash)
    return "nothing says that they saw the same images";
  if (!first.images_hash.empty() && !second.images_hash.empty() &&
      first.images_hash != second.images_hash)
    return "image files of their data are of other sizes";
  if (const auto option = differing_option(first, second, true); !option.empty())
    return "they were drawn otherwise: " + option;
  return difference_between(first, second);
}

metrics::Comparison compare(const RunFindings& first,
                            const RunFindings& second,
                            const std::string& role,
                            const std::string& key) {
  if (arm_rank(first.arm) > arm_rank(second.arm)) {
    const auto mirrored = compare(second, first, role, key);
    return {-mirrored.difference, -mirrored.high, -mirrored.low, mirrored.paired};
  }
  const auto* a = find_finding(first, role, key);
  const auto* b = find_finding(second, role, key);
  if (a == nullptr || b == nullptr) return {kNaN, kNaN, kNaN, false};
  return metrics::compare(*a, *b, why_not_paired(first, second).empty());
}

std::vector<ComparedNumber> compare_runs(const NamedFindings& first,
                                         const NamedFindings& second,
                                         const Wanted& wanted) {
  ensure_wanted(first, wanted);
  ensure_wanted(second, wanted);
  const RunFindings& a = first.findings;
  const RunFindings& b = second.findings;
  ensure(a.task == b.task, "{} and {} differ in their task ({} and {}) and cannot be compared",
         first.name, second.name, a.task, b.task);
  const auto differs = difference_between(a, b);
  ensure(differs.empty(),
         "{0} and {1} differ in {2}; only runs measured alike on the same images can be compared; "
         "run: partwise measure {0} {1}",
         first.name, second.name, differs);
  std::vector<ComparedNumber> numbers;
  const auto add = [&](const std::string& role, const Findings& findings) {
    for (const auto& [key, finding] : findings) {
      const auto* other = find_finding(b, role, key);
      if (other == nullptr || !is_wanted(key, wanted)) continue;
      numbers.push_back({role, key, finding.value, other->value, compare(a, b, role, key)});
    }
  };
  add("", a.findings);
  for (const auto& layer : a.layers) add(layer.role, layer.findings);
  return numbers;
}

}  // namespace partwise::findings
