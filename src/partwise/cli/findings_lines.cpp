#include "partwise/cli/findings_lines.h"

#include <fmt/format.h>

#include <set>

namespace partwise::cli {
namespace {

std::string number(const nlohmann::json& value) {
  return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : std::string("-");
}

}  // namespace

std::string finding_text(const nlohmann::json& finding) {
  return fmt::format("{} [{}, {}]", number(finding.at("value")), number(finding.at("low")),
                     number(finding.at("high")));
}

std::string finding_lines(const nlohmann::json& layer, bool skip_common) {
  static const std::set<std::string> common{"purity", "location_instability", "instability_ratio",
                                            "part_interpretability"};
  std::string lines;
  for (const auto& [key, finding] : layer.items()) {
    if (!finding.is_object() || !finding.contains("value")) continue;
    if (skip_common && common.count(key) != 0) continue;
    std::string controls;
    for (const auto& [name, value] : finding.at("controls").items())
      controls += fmt::format("{}{} {}", controls.empty() ? "" : ", ", name, number(value));
    if (finding.contains("count"))
      controls +=
          fmt::format("; {} detectors, {} unique ({} by chance)", finding["count"].get<int64_t>(),
                      finding["unique"].get<int64_t>(), finding["chance_unique"].get<int64_t>());
    lines += fmt::format("  {:<32} {:<24} {}\n", key, finding_text(finding), controls);
  }
  return lines;
}

}  // namespace partwise::cli
