#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace partwise::metrics {

// A number in every draw of the bootstrap, NaN where it does not exist.
struct Draws {
  std::vector<double> own;
  // The same rows with other filters: what another net's own draws are held against, as its filters
  // have nothing to do with these. Empty for a number without filters, whose own serve.
  std::vector<double> partner = {};

  [[nodiscard]] const std::vector<double>& apart() const { return partner.empty() ? own : partner; }
};

struct Interval {
  double low = 0.0;
  double high = 0.0;
  Draws draws = {};
};

// A measured number with its 95 % interval and the numbers to hold it against; NaN: not defined.
struct Finding {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
  std::map<std::string, double> controls = {};
  Draws draws = {};
  nlohmann::json facts = nlohmann::json::object();  // its further members in findings.json
};

// By their keys in findings.json.
using Findings = std::map<std::string, Finding>;

}  // namespace partwise::metrics
