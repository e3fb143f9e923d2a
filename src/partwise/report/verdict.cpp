#include "partwise/report/verdict.h"

#include "partwise/base/names.h"
#include "partwise/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace partwise::report {

namespace {

std::string full_name(const std::string& arm) {
  const std::size_t rank = arm_rank(arm);
  return rank < arms().size() ? arms()[rank].article_name : "the " + arm + " network";
}

std::string capitalised(std::string sentence) {
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') {
    sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  }
  return sentence;
}

std::string lower_name(const MetricWords& metric) {
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

std::vector<Measure> measures_of(std::span<const RunFindings> runs,
                                 const std::string& arm,
                                 const std::string& role,
                                 const std::string& key) {
  std::vector<Measure> found;
  for (const RunFindings& run : runs) {
    if (run.arm != arm) continue;
    const LayerFindings* layer = role.empty() ? nullptr : find_layer(run, role);
    if (!role.empty() && layer == nullptr) continue;
    const Measure* measure = find_measure(role.empty() ? run.measures : layer->measures, key);
    found.push_back(measure == nullptr ? Measure{} : *measure);
  }
  return found;
}

std::optional<double> mean_value(std::span<const Measure> measures) {
  double sum = 0.0;
  for (const Measure& measure : measures) {
    if (!measure.value) return std::nullopt;
    sum += *measure.value;
  }
  return measures.empty() ? std::nullopt
                          : std::optional(sum / static_cast<double>(measures.size()));
}

std::string shown_all(const MetricWords& metric, std::span<const Measure> measures) {
  if (measures.size() == 1) return shown(metric, measures[0]);
  std::vector<std::string> values;
  for (const Measure& measure : measures) values.push_back(shown(metric, measure));
  return join(values, "; ");
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

Claim claim_between(std::span<const RunFindings> runs,
                    const MetricWords& metric,
                    const std::string& role,
                    const std::string& subject,
                    const std::string& other) {
  const auto a = measures_of(runs, subject, role, metric.key);
  const auto b = measures_of(runs, other, role, metric.key);
  Claim claim{&metric,
              role,
              subject,
              other,
              false,
              relate(a, b),
              shown_all(metric, a),
              shown_all(metric, b),
              std::nullopt};
  const auto mean_a = mean_value(a);
  const auto mean_b = mean_value(b);
  if (mean_a && mean_b) claim.difference = *mean_a - *mean_b;
  return claim;
}

// With several runs of the arm, the control must be passed by every one of them.
std::vector<Claim> claims_on_controls(std::span<const RunFindings> runs,
                                      const MetricWords& metric,
                                      const std::string& role,
                                      const std::string& subject) {
  std::map<std::string, Claim> by_control;
  const auto measures = measures_of(runs, subject, role, metric.key);
  for (const Measure& measure : measures) {
    for (const auto& [name, value] : measure.controls) {
      const Relation relation = relate(measure, value);
      const auto [entry, is_new] = by_control.try_emplace(
          name, Claim{&metric, role, subject, control_name(name), true, relation,
                      shown_all(metric, measures), shown(metric, value), std::nullopt});
      if (is_new && measure.value && value) entry->second.difference = *measure.value - *value;
      Relation& common = entry->second.relation;
      if (common == relation) continue;
      const bool known = common != Relation::undefined && relation != Relation::undefined;
      common = known ? Relation::indistinct : Relation::undefined;
    }
  }
  std::vector<Claim> found;
  found.reserve(by_control.size());
  for (auto& [name, claim] : by_control) found.push_back(std::move(claim));
  return found;
}

std::string points(double difference) {
  return (difference < 0 ? "−" : "+") + decimal(std::abs(difference) * 100.0, 1) + " points";
}

std::string short_values(std::span<const RunFindings> runs, const Claim& claim) {
  const MetricWords& metric = *claim.metric;
  const auto value = [&](const std::string& arm) {
    const auto mean = mean_value(measures_of(runs, arm, claim.role, metric.key));
    return metric.is_share ? percent(mean) : decimal(mean, 2);
  };
  std::string words = fmt::format("{} against {}", value(claim.subject), value(claim.other));
  if (metric.is_share && claim.difference) words += ", " + points(*claim.difference);
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
  if (!measures_of(runs, other, role, "purity").empty()) {
    for (const char* key : {"purity", "instability_ratio", "part_interpretability"}) {
      chosen.push_back(claim_between(runs, *find_metric(key), role, subject, other));
    }
  }
  chosen.push_back(claim_between(runs, *find_metric("accuracy"), "", subject, other));
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
  const MetricWords& metric = *find_metric("instability_ratio");
  const auto measures = measures_of(runs, subject, role, metric.key);
  const Measure one{1.0, 1.0, 1.0, {}};
  const Relation relation = relate(measures, std::span(&one, 1));
  const std::string values = shown_all(metric, measures);
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
  const MetricWords& metric = *find_metric("location_instability");
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
  const bool has_top = std::find(roles.begin(), roles.end(), kTopLayer) != roles.end();
  return has_top ? kTopLayer : roles.front();
}

std::string sentence_alone(std::span<const RunFindings> runs, const std::string& subject) {
  const MetricWords& accuracy = *find_metric("accuracy");
  return fmt::format(
      "Only one kind of network is in this report, so nothing can be compared. {} has an accuracy "
      "of "
      "{}.",
      capitalised(full_name(subject)),
      shown_all(accuracy, measures_of(runs, subject, "", "accuracy")));
}

}  // namespace

std::string shown(const MetricWords& metric, std::optional<double> value) {
  return metric.is_share ? percent(value) : decimal(value, metric.decimals);
}

std::string shown(const MetricWords& metric, const Measure& measure) {
  if (!measure.value) return "–";
  const auto bare = [&](std::optional<double> bound) {
    return metric.is_share && bound ? decimal(*bound * 100.0, 1) : decimal(bound, metric.decimals);
  };
  return fmt::format("{} [{}, {}]", shown(metric, measure.value), bare(measure.low),
                     bare(measure.high));
}

Relation relate(const Measure& a, const Measure& b) {
  if (!a.low || !a.high || !b.low || !b.high) return Relation::undefined;
  if (*a.low > *b.high) return Relation::higher;
  if (*a.high < *b.low) return Relation::lower;
  return Relation::indistinct;
}

Relation relate(const Measure& a, std::optional<double> control) {
  return relate(a, Measure{control, control, control, {}});
}

Relation relate(std::span<const Measure> a, std::span<const Measure> b) {
  if (a.empty() || b.empty()) return Relation::undefined;
  const Relation first = relate(a[0], b[0]);
  Relation common = first;
  for (const Measure& one : a) {
    for (const Measure& other : b) {
      const Relation pair = relate(one, other);
      if (pair == Relation::undefined) return pair;
      if (pair != first) common = Relation::indistinct;
    }
  }
  return common;
}

bool comparable(const RunFindings& a, const RunFindings& b) {
  return a.net == b.net && a.task == b.task && a.loss == b.loss && a.split == b.split &&
         a.rows == b.rows && a.categories == b.categories;
}

std::vector<std::vector<RunFindings>> comparable_groups(std::span<const RunFindings> runs) {
  std::vector<std::vector<RunFindings>> groups;
  for (const RunFindings& run : runs) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& members) {
      return comparable(members.front(), run);
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
  const auto add = [&](const MetricWords& metric, const std::string& role) {
    for (const std::string& other : found) {
      if (other == subject || measures_of(runs, other, role, metric.key).empty()) continue;
      all.push_back(claim_between(runs, metric, role, subject, other));
    }
    for (Claim& claim : claims_on_controls(runs, metric, role, subject)) {
      all.push_back(std::move(claim));
    }
  };
  for (const MetricWords& metric : run_metrics()) add(metric, "");
  for (const std::string& role : roles_of(runs, subject)) {
    for (const MetricWords& metric : layer_metrics()) add(metric, role);
  }
  return all;
}

std::string judgement(const Claim& claim) {
  if (claim.relation == Relation::undefined) return "not defined";
  if (claim.relation == Relation::indistinct) return "not distinguishable";
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
  verdict.basis +=
      "“Better” and “worse” are said only where the 95\u00A0% intervals do not overlap; everything "
      "else "
      "is called not distinguishable, which does not mean equal.";
  return verdict;
}

}  // namespace partwise::report
