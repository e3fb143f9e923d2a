#include "partwise/report/verdict.h"

#include "partwise/base/names.h"
#include "partwise/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace partwise::report {

namespace {

std::string full_name(const std::string& arm) {
  const std::size_t rank = arm_rank(arm);
  return rank < arms().size() ? arms()[rank].article_name : "the " + arm + " network";
}

std::string lower_name(const NumberWords& metric) {
  std::string name = metric.name;
  name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return name;
}

std::vector<std::string> arms_of(std::span<const RunFindings> runs) {
  std::vector<std::string> found;
  for (const RunFindings& run : runs) {
    if (std::find(found.begin(), found.end(), run.arm) == found.end()) found.push_back(run.arm);
  }
  std::stable_sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return arm_rank(a) < arm_rank(b);
  });
  return found;
}

// The known arm nearest to the full method; an unknown one only if there is nothing else.
std::string subject_of(const std::vector<std::string>& found) {
  std::string subject = found.front();
  for (const std::string& arm : found) {
    if (arm_rank(arm) < arms().size()) subject = arm;
  }
  return subject;
}

// The runs of an arm; of a layer, those that have it.
std::vector<const RunFindings*> runs_of(std::span<const RunFindings> runs,
                                        const std::string& arm,
                                        const std::string& role) {
  std::vector<const RunFindings*> found;
  for (const RunFindings& run : runs) {
    if (run.arm == arm && (role.empty() || find_layer(run, role) != nullptr)) found.push_back(&run);
  }
  return found;
}

// One finding per run of the arm; of NaN where it was not measured.
std::vector<Finding> findings_of(std::span<const RunFindings> runs,
                                 const std::string& arm,
                                 const std::string& role,
                                 const std::string& key) {
  std::vector<Finding> found;
  for (const RunFindings* run : runs_of(runs, arm, role)) {
    const Finding* finding = find_finding(*run, role, key);
    found.push_back(finding == nullptr ? Finding{.value = NAN, .low = NAN, .high = NAN} : *finding);
  }
  return found;
}

double mean_value(std::span<const Finding> found) {
  double sum = 0.0;
  for (const Finding& finding : found) sum += finding.value;
  return sum / static_cast<double>(found.size());  // NaN where one is, or there is none
}

std::string shown_all(const NumberWords& metric, std::span<const Finding> found) {
  std::vector<std::string> values;
  for (const Finding& finding : found) values.push_back(shown(metric, finding));
  return join(values, "; ");
}

// What holds for all of them.
Relation common(std::span<const metrics::Comparison> comparisons) {
  if (comparisons.empty()) return Relation::undefined;
  Relation all = relation(comparisons.front());
  for (const auto& comparison : comparisons) {
    const Relation one = relation(comparison);
    if (one == Relation::undefined) return one;
    if (one != all) all = Relation::indistinct;
  }
  return all;
}

std::vector<std::string> roles_of(std::span<const RunFindings> runs, const std::string& arm) {
  std::vector<std::string> roles;
  for (const RunFindings& run : runs) {
    for (const LayerFindings& layer : run.layers) {
      const bool known = std::find(roles.begin(), roles.end(), layer.role) != roles.end();
      if (run.arm == arm && !layer.role.empty() && !known) roles.push_back(layer.role);
    }
  }
  return roles;
}

Claim make_claim(const NumberWords& metric,
                 const std::string& role,
                 const std::string& subject,
                 const std::string& other,
                 std::span<const metrics::Comparison> comparisons) {
  Claim claim{.metric = &metric,
              .role = role,
              .subject = subject,
              .other = other,
              .relation = common(comparisons)};
  if (comparisons.size() == 1) {
    claim.low = comparisons.front().low;
    claim.high = comparisons.front().high;
  }
  return claim;
}

Claim claim_between(std::span<const RunFindings> runs,
                    const NumberWords& metric,
                    const std::string& role,
                    const std::string& subject,
                    const std::string& other) {
  std::vector<metrics::Comparison> comparisons;
  for (const RunFindings* a : runs_of(runs, subject, role)) {
    for (const RunFindings* b : runs_of(runs, other, role))
      comparisons.push_back(findings::compare(*b, *a, role, metric.key));
  }
  auto claim = make_claim(metric, role, subject, other, comparisons);
  const auto a = findings_of(runs, subject, role, metric.key);
  const auto b = findings_of(runs, other, role, metric.key);
  claim.subject_value = shown_all(metric, a);
  claim.other_value = shown_all(metric, b);
  claim.difference = mean_value(a) - mean_value(b);
  return claim;
}

// With several runs of the arm, the control must be passed by every one of them.
std::vector<Claim> claims_on_controls(std::span<const RunFindings> runs,
                                      const NumberWords& metric,
                                      const std::string& role,
                                      const std::string& subject) {
  const auto found = findings_of(runs, subject, role, metric.key);
  std::map<std::string, std::vector<metrics::Comparison>> by_control;
  std::map<std::string, double> first_value;
  for (const Finding& finding : found) {
    for (const auto& [name, value] : finding.controls) {
      by_control[name].push_back(metrics::compare_with_control(value, finding));
      first_value.try_emplace(name, value);
    }
  }
  std::vector<Claim> all;
  for (const auto& [name, comparisons] : by_control) {
    auto& claim =
        all.emplace_back(make_claim(metric, role, subject, control_name(name), comparisons));
    claim.is_control = true;
    claim.subject_value = shown_all(metric, found);
    claim.other_value = shown(metric, first_value.at(name));
    claim.difference = comparisons.front().difference;
  }
  return all;
}

// The control that is hardest to pass; nullptr without any that can be compared.
const Claim* hardest(const std::vector<Claim>& controls) {
  const Claim* found = nullptr;
  for (const Claim& claim : controls) {
    if (claim.relation == Relation::undefined) continue;
    const double sign = claim.metric->better == Better::lower ? -1.0 : 1.0;
    if (found == nullptr || sign * claim.difference < sign * found->difference) found = &claim;
  }
  return found;
}

bool is_better(const Claim& claim) {
  return judgement(claim) == "better";
}

// "better than its hardest control, constant centre (0.391)"
std::string against_control(const Claim& claim, const char* whose) {
  return fmt::format("{} {} {} hardest control, {} ({})", judgement(claim),
                     claim.relation == Relation::indistinct ? "from" : "than", whose, claim.other,
                     claim.other_value);
}

std::string images_of(std::span<const RunFindings> runs, const std::string& subject) {
  const RunFindings& run = *runs_of(runs, subject, "").front();
  if (run.training_images && *run.training_images == 0)
    return fmt::format("{} images it was not trained on", run.rows);
  if (run.training_images)
    return fmt::format("{} images, {} of them training images", run.rows, *run.training_images);
  return fmt::format("{} images of the split “{}”", run.rows, run.split);
}

std::string sentence_on_accuracy(std::span<const RunFindings> runs, const std::string& subject) {
  const NumberWords& accuracy = *metrics::find_number("accuracy");
  const auto found = findings_of(runs, subject, "", accuracy.key);
  std::string name = full_name(subject);  // "the …"
  name[0] = 'T';
  std::string sentence = fmt::format("{} decides right on {} of {}", name,
                                     shown_all(accuracy, found), images_of(runs, subject));
  const auto controls = claims_on_controls(runs, accuracy, "", subject);
  if (const Claim* control = hardest(controls)) sentence += ": " + against_control(*control, "its");
  return sentence + ".";
}

// The roles of a layer's number that exist, the layer that decides first.
std::vector<std::string> roles_with(std::span<const RunFindings> runs,
                                    const std::string& subject,
                                    const NumberWords& metric) {
  auto roles = roles_of(runs, subject);
  std::reverse(roles.begin(), roles.end());
  std::erase_if(roles, [&](const std::string& role) {
    return !std::isfinite(mean_value(findings_of(runs, subject, role, metric.key)));
  });
  return roles;
}

std::string sentence_on_parts(std::span<const RunFindings> runs, const std::string& subject) {
  const NumberWords& parts = *metrics::find_number("part_interpretability");
  const NumberWords& purity = *metrics::find_number("purity");
  const bool knows_parts = !roles_with(runs, subject, parts).empty();
  const NumberWords& metric = knows_parts ? parts : purity;
  const auto roles = roles_with(runs, subject, metric);
  if (roles.empty()) return "What its filters stand for was not measured.";
  std::string sentence;
  bool first_better = false;
  for (const std::string& role : roles) {
    const auto controls = claims_on_controls(runs, metric, role, subject);
    const Claim* control = hardest(controls);
    const auto values = shown_all(metric, findings_of(runs, subject, role, metric.key));
    const bool better = control != nullptr && is_better(*control);
    const auto numbers = control == nullptr
                             ? fmt::format("{} {}, without a control", lower_name(metric), values)
                             : fmt::format("{} {}, {}", lower_name(metric), values,
                                           against_control(*control, "their"));
    if (!sentence.empty()) {
      sentence +=
          fmt::format("; {} in the {}: {}{}", better == first_better ? "likewise" : "but", role,
                      values, control == nullptr ? "" : fmt::format(", {}", judgement(*control)));
      if (control != nullptr)
        sentence +=
            fmt::format(" {} {}", control->relation == Relation::indistinct ? "from" : "than",
                        control->other_value);
      continue;
    }
    first_better = better;
    if (knows_parts) {
      sentence = fmt::format(
          "Its filters in the {} {}: {}", role,
          better ? "hit their part more often than what knows nothing of it"
                 : "are not shown to hit their part more often than what knows nothing of it",
          numbers);
    } else {
      sentence = fmt::format(
          "Whether its filters stand for parts cannot be said, as the data names none; in the {} "
          "they {}: {}",
          role,
          better ? "are more concentrated than what knows nothing of the object"
                 : "are not shown to be more concentrated than what knows nothing of the object",
          numbers);
    }
  }
  return sentence + ".";
}

// Against the plainest network there is.
std::string sentence_on_cost(std::span<const RunFindings> runs,
                             const std::vector<std::string>& found,
                             const std::string& subject) {
  const std::string& other = found.front() == subject ? found.back() : found.front();
  if (other == subject)
    return "What that costs in accuracy cannot be said: no other kind of network that was measured "
           "alike is in this report.";
  const auto claim = claim_between(runs, *metrics::find_number("accuracy"), "", subject, other);
  const auto numbers = fmt::format("{} against {}", shown_difference(claim), full_name(other));
  if (claim.relation == Relation::undefined)
    return fmt::format(
        "What that costs in accuracy against {} cannot be said: an interval is "
        "missing.",
        full_name(other));
  if (claim.relation == Relation::lower) return fmt::format("That costs accuracy: {}.", numbers);
  if (claim.relation == Relation::higher)
    return fmt::format("That costs no accuracy: {}, which is better.", numbers);
  return fmt::format("A cost in accuracy is not shown: {}, not distinguishable.", numbers);
}

// How the words are meant, and which runs could not be paired.
std::string basis_of(std::span<const RunFindings> runs) {
  std::set<std::string> reasons;
  for (const RunFindings& a : runs) {
    for (const RunFindings& b : runs) {
      if (&a != &b) reasons.insert(findings::why_not_paired(a, b));
    }
  }
  reasons.erase("");
  std::string words =
      "“Better” and “worse” are said only where the 95\u00A0% interval of the difference leaves "
      "out 0, as partwise compare says it; everything else is called not distinguishable, which "
      "does not mean equal.";
  if (reasons.empty() && runs.size() > 1)
    return words + " Every network is drawn on the same images, so hard ones cancel.";
  if (!reasons.empty())
    words += fmt::format(
        " Some networks could not be held against each other image by image ({}); their intervals "
        "are put together as if they were independent.",
        join(std::vector<std::string>(reasons.begin(), reasons.end()), "; "));
  return words;
}

}  // namespace

std::string shown(const NumberWords& metric, double value) {
  return metric.is_share ? percent(value) : decimal(value, metric.decimals);
}

std::string shown(const NumberWords& metric, const Finding& finding) {
  if (!std::isfinite(finding.value)) return "–";
  const auto bare = [&](double bound) {
    return metric.is_share ? percent_number(bound) : decimal(bound, metric.decimals);
  };
  return fmt::format("{} [{}, {}]", shown(metric, finding.value), bare(finding.low),
                     bare(finding.high));
}

std::string shown_difference(const Claim& claim) {
  const bool share = claim.metric->is_share;
  const auto part = [&](double value) {
    const double size = value * (share ? 100.0 : 1.0);
    return fmt::format("{}{}", size > 0 ? "+" : "",
                       decimal(size, share ? 1 : claim.metric->decimals));
  };
  if (!std::isfinite(claim.difference)) return "–";
  const bool of_one_pair = std::isfinite(claim.low) && std::isfinite(claim.high);
  return fmt::format(
      "{}{}{}", part(claim.difference), share ? " points" : "",
      of_one_pair ? fmt::format(" [{}, {}]", part(claim.low), part(claim.high)) : "");
}

std::string hardest_control(const NumberWords& metric, const Finding& finding) {
  std::string found;
  const double sign = metric.better == Better::lower ? -1.0 : 1.0;
  for (const auto& [name, value] : finding.controls) {
    if (!std::isfinite(value)) continue;
    if (found.empty() || sign * value > sign * finding.controls.at(found)) found = name;
  }
  return found;
}

std::vector<NumberWords> leading_numbers(bool of_network) {
  std::vector<NumberWords> numbers;
  for (const Metric& metric : metrics::catalogue()) {
    if (metric.leads && metric.is_of_network() == of_network)
      numbers.insert(numbers.end(), metric.numbers.begin(), metric.numbers.end());
  }
  return numbers;
}

bool are_comparable(const RunFindings& first, const RunFindings& second) {
  return first.net == second.net && first.loss == second.loss &&
         first.categories == second.categories &&
         findings::difference_between(first, second).empty();
}

std::vector<std::vector<RunFindings>> comparable_groups(std::span<const RunFindings> runs) {
  std::vector<std::vector<RunFindings>> groups;
  for (const RunFindings& run : runs) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& members) {
      return are_comparable(members.front(), run);
    });
    if (group == groups.end()) {
      groups.push_back({run});
    } else {
      group->push_back(run);
    }
  }
  return groups;
}

std::vector<Claim> claims(std::span<const RunFindings> runs) {
  std::vector<Claim> all;
  if (runs.empty()) return all;
  const auto found = arms_of(runs);
  const std::string subject = subject_of(found);
  const auto add = [&](bool of_network, const std::string& role) {
    for (const NumberWords& words : leading_numbers(of_network)) {
      const NumberWords& metric = *metrics::find_number(words.key);
      for (const std::string& other : found) {
        if (other != subject && !runs_of(runs, other, role).empty())
          all.push_back(claim_between(runs, metric, role, subject, other));
      }
      for (Claim& claim : claims_on_controls(runs, metric, role, subject))
        all.push_back(std::move(claim));
    }
  };
  add(true, "");
  for (const std::string& role : roles_of(runs, subject)) add(false, role);
  return all;
}

std::string judgement(const Claim& claim) {
  const bool decided = claim.relation == Relation::higher || claim.relation == Relation::lower;
  if (!decided || claim.metric->better == Better::neither) return words_for(claim.relation);
  const bool up_is_good = claim.metric->better == Better::higher;
  return (claim.relation == Relation::higher) == up_is_good ? "better" : "worse";
}

Verdict verdict(std::span<const RunFindings> runs) {
  if (runs.empty()) return {{"There is no run in this report."}, ""};
  const auto found = arms_of(runs);
  const std::string subject = subject_of(found);
  return {{sentence_on_accuracy(runs, subject), sentence_on_parts(runs, subject),
           sentence_on_cost(runs, found, subject)},
          basis_of(runs)};
}

}  // namespace partwise::report
