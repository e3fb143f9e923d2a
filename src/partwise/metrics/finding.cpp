#include "partwise/metrics/finding.h"

#include "partwise/base/error.h"

#include <cmath>
#include <limits>

namespace partwise::metrics {
namespace {

nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

double number_from(const nlohmann::json& json, const std::string& name) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  ensure(json.is_number(), "finding: {} = {} is not a number", name, json.dump());
  return json.get<double>();
}

double member(const nlohmann::json& json, const std::string& name) {
  ensure(json.contains(name), "finding: {} has no '{}'", json.dump(), name);
  return number_from(json.at(name), name);
}

}  // namespace

nlohmann::json to_json(const Finding& finding) {
  auto controls = nlohmann::json::object();
  for (const auto& [name, value] : finding.controls) controls[name] = number_or_null(value);
  return {{"value", number_or_null(finding.value)},
          {"low", number_or_null(finding.low)},
          {"high", number_or_null(finding.high)},
          {"controls", controls}};
}

Finding finding_from_json(const nlohmann::json& json) {
  ensure(json.is_object(), "finding: expected an object, found {}", json.dump());
  Finding finding;
  finding.value = member(json, "value");
  finding.low = member(json, "low");
  finding.high = member(json, "high");
  const auto controls = json.value("controls", nlohmann::json::object());
  ensure(controls.is_object(), "finding: controls = {} is not an object", controls.dump());
  for (const auto& [name, value] : controls.items())
    finding.controls[name] = number_from(value, name);
  return finding;
}

}  // namespace partwise::metrics
