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

std::string short_values(std::span<const RunFindings> runs, const Claim& claim) {
  const NumberWords& metric = *claim.metric;
  const auto value = [&](const std::string& arm) {
    const double mean = mean_value(findings_of(runs, arm, claim.role, metric.key));
    return metric.is_share ? percent(mean) : decimal(mean, 2);
  };
  std::string words = fmt::format("{} against {}", value(claim.subject), value(claim.other));
  if (metric.is_share)
    words += fmt::format(", {}{} points", claim.difference < 0 ? "−" : "+",
                         decimal(std::abs(claim.difference) * 100.0, 1));
  if (metric.better == Better::lower) words += ", lower is better";
  return words;
}

// "better in purity (0.78 against 0.41) and …; not distinguishable in accuracy (…)"
std::string grouped(const std::vector<Claim>& chosen, std::span<const RunFindings> runs) {
  std::string sentence;
  for (const char* word : {"better", "worse", "not distinguishable", "not comparable"}) {
    std::vector<std::string> items;
    for (const Claim& claim : chosen) {
      const bool undefined = claim.relation == Relation::undefined;
      const std::string judged = undefined ? "not comparable" : judgement(claim);
      if (judged != word) continue;
      const auto why =
          undefined ? std::string("an interval is missing") : short_values(runs, claim);
      items.push_back(fmt::format("{} ({})", lower_name(*claim.metric), why));
    }
    if (items.empty()) continue;
    if (!sentence.empty()) sentence += "; ";
    const std::string last = items.back();
    items.pop_back();
    sentence += fmt::format("{} in {}", word, items.empty() ? last : join(items) + " and " + last);
  }
  return sentence;
}

std::vector<Claim> headline_claims(std::span<const RunFindings> runs,
                                   const std::string& subject,
                                   const std::string& other,
                                   const std::string& role) {
  std::vector<Claim> chosen;
  if (!runs_of(runs, other, role).empty()) {
    for (const char* key : {"purity", "instability_ratio", "part_interpretability"}) {
      chosen.push_back(claim_between(runs, *metrics::find_number(key), role, subject, other));
    }
  }
  chosen.push_back(claim_between(runs, *metrics::find_number("accuracy"), "", subject, other));
  return chosen;
}

std::string sentence_against(std::span<const RunFindings> runs,
                             const std::string& subject,
                             const std::string& other,
                             const std::string& role,
                             const std::string& subject_words) {
  const bool only_loss_differs = subject == "interpretable" && other == "masked";
  return fmt::format(
      "{} {}{}, {} is {}.", role.empty() ? "Against" : fmt::format("In the {}, against", role),
      full_name(other), only_loss_differs ? ", which lacks only the filter loss" : "",
      subject_words, grouped(headline_claims(runs, subject, other, role), runs));
}

std::string sentence_on_ratio(std::span<const RunFindings> runs,
                              const std::string& subject,
                              const std::string& role) {
  const NumberWords& metric = *metrics::find_number("instability_ratio");
  const auto found = findings_of(runs, subject, role, metric.key);
  std::vector<metrics::Comparison> with_one;
  for (const Finding& finding : found)
    with_one.push_back(metrics::compare_with_control(1.0, finding));
  const Relation relation = common(with_one);
  const std::string values = shown_all(metric, found);
  if (relation == Relation::lower) {
    return fmt::format(
        "Its peaks in the {} move with the object's landmarks: the instability ratio, {}, lies "
        "below 1, the value of a detector that ignores them.",
        role, values);
  }
  if (relation == Relation::undefined) return "Whether its peaks follow landmarks is not known.";
  return fmt::format(
      "Its peaks in the {} are not shown to follow the object's landmarks: the instability ratio, "
      "{}, is not below 1, the value of a detector that ignores them.",
      role, values);
}

std::string sentence_on_constant(std::span<const RunFindings> runs,
                                 const std::string& subject,
                                 const std::string& role) {
  const NumberWords& metric = *metrics::find_number("location_instability");
  for (const Claim& claim : claims_on_controls(runs, metric, role, subject)) {
    if (claim.other != "constant centre" || claim.relation == Relation::undefined) continue;
    if (claim.relation == Relation::lower) {
      return fmt::format(
          "Its location instability, {}, is lower than that of a detector that always fires at the "
          "centre ({}).",
          claim.subject_value, claim.other_value);
    }
    return fmt::format(
        "Its location instability, {}, does not beat a detector that always fires at the centre "
        "({}), so by itself that number proves nothing.",
        claim.subject_value, claim.other_value);
  }
  return "";
}

// All arms have the top layer of the backbone.
std::string headline_role(const std::vector<std::string>& roles) {
  if (roles.empty()) return "";
  const bool has_top = std::find(roles.begin(), roles.end(), findings::kTopLayer) != roles.end();
  return has_top ? findings::kTopLayer : roles.front();
}

std::string sentence_alone(std::span<const RunFindings> runs, const std::string& subject) {
  const NumberWords& accuracy = *metrics::find_number("accuracy");
  std::string name = full_name(subject);  // "the …"
  name[0] = 'T';
  return fmt::format(
      "Only one kind of network is in this report, so nothing can be compared. {} has an accuracy "
      "of {}.",
      name, shown_all(accuracy, findings_of(runs, subject, "", "accuracy")));
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
      "does "
      "not mean equal.";
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
    return metric.is_share ? decimal(bound * 100.0, 1) : decimal(bound, metric.decimals);
  };
  return fmt::format("{} [{}, {}]", shown(metric, finding.value), bare(finding.low),
                     bare(finding.high));
}

std::vector<NumberWords> leading_numbers(bool of_network) {
  std::vector<NumberWords> numbers;
  for (const Metric& metric : metrics::catalogue()) {
    if (metric.leads && metric.is_of_network() == of_network)
      numbers.insert(numbers.end(), metric.numbers.begin(), metric.numbers.end());
  }
  return numbers;
}

std::vector<std::vector<RunFindings>> comparable_groups(std::span<const RunFindings> runs) {
  std::vector<std::vector<RunFindings>> groups;
  for (const RunFindings& run : runs) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& members) {
      const RunFindings& first = members.front();
      return first.net == run.net && first.loss == run.loss && first.categories == run.categories &&
             findings::difference_between(first, run).empty();
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
  const auto roles = roles_of(runs, subject);
  const std::string role = headline_role(roles);
  const std::string last_role = roles.empty() ? "" : roles.back();
  Verdict verdict;
  if (found.size() == 1) verdict.sentences.push_back(sentence_alone(runs, subject));
  const std::string& plainest = found.front() == subject ? found.back() : found.front();
  if (plainest != subject) {
    verdict.sentences.push_back(
        sentence_against(runs, subject, plainest, role, full_name(subject)));
  }
  const auto compare = [&](const std::string& arm, const std::string& layer) {
    const bool present = std::find(found.begin(), found.end(), arm) != found.end();
    if (!present || arm == subject || arm == plainest) return;
    verdict.sentences.push_back(sentence_against(runs, subject, arm, layer, "it"));
  };
  compare("masked", role);
  compare("ordinary+layer", last_role);
  if (last_role != role) compare("masked", last_role);
  if (!role.empty()) {
    verdict.sentences.push_back(sentence_on_ratio(runs, subject, last_role));
    const auto constant = sentence_on_constant(runs, subject, last_role);
    if (!constant.empty()) verdict.sentences.push_back(constant);
  }
  verdict.basis = basis_of(runs);
  return verdict;
}

}  // namespace partwise::report
