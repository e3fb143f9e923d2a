#include "partwise/cli/findings_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace partwise::cli {
namespace {

std::string number(const nlohmann::json& value) {
  if (!value.is_number()) return "-";
  const auto plain = value.get<double>();
  const bool small = plain != 0.0 && std::abs(plain) < 0.02;  // adversarial distortions are
  return small ? fmt::format("{:.5f}", plain) : fmt::format("{:.3f}", plain);
}

// What a finding has besides its number and controls, where people want to read it.
std::string further(const nlohmann::json& finding) {
  if (finding.contains("count"))
    return fmt::format("; {} detectors, {} unique ({} by chance)", finding["count"].get<int64_t>(),
                       finding["unique"].get<int64_t>(), finding["chance_unique"].get<int64_t>());
  if (finding.contains("success_share"))
    return fmt::format("; {} of {} images attacked with success, {} of those flip at random too",
                       number(finding["success_share"]), finding["images"].get<int64_t>(),
                       number(finding["random_flips"]));
  return "";
}

// Which part the filters of each category stand for: "fox: head 0.40, torso 0.60".
std::string share_lines(const nlohmann::json& finding) {
  std::string lines;
  if (!finding.contains("share_of_filters")) return lines;
  for (const auto& [category, parts] : finding["share_of_filters"].items()) {
    std::string shares;
    for (const auto& [part, share] : parts.items())
      shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", part, number(share));
    lines += fmt::format("    filters of {}: {}\n", category, shares);
  }
  return lines;
}

}  // namespace

std::string finding_text(const nlohmann::json& finding) {
  return fmt::format("{} [{}, {}]", number(finding.at("value")), number(finding.at("low")),
                     number(finding.at("high")));
}

std::string finding_lines(const nlohmann::json& layer, bool skip_common) {
  static const std::set<std::string> common{
      "accuracy",          "balanced_accuracy",    "purity", "location_instability",
      "instability_ratio", "part_interpretability"};
  std::string lines;
  for (const auto& [key, finding] : layer.items()) {
    if (!finding.is_object() || !finding.contains("value")) continue;
    if (skip_common && common.count(key) != 0) continue;
    std::string controls;
    for (const auto& [name, value] : finding.at("controls").items())
      controls += fmt::format("{}{} {}", controls.empty() ? "" : ", ", name, number(value));
    lines += fmt::format("  {:<32} {:<24} {}\n", key, finding_text(finding),
                         controls + further(finding));
    lines += share_lines(finding);
  }
  return lines;
}

}  // namespace partwise::cli
