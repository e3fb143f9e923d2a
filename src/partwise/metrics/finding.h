#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace partwise::metrics {

// A measured number with its 95 % interval and the numbers to hold it against.
struct Finding {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
  std::map<std::string, double> controls;
  // The number in every draw of the bootstrap, NaN where it does not exist; not part of the JSON.
  std::vector<double> resamples = {};
};

// {"value": v, "low": l, "high": h, "controls": {...}}; a number that does not exist (NaN) becomes
// null.
nlohmann::json to_json(const Finding& finding);
Finding finding_from_json(const nlohmann::json& json);

}  // namespace partwise::metrics
