#include "partwise/training/early_stop.h"

#include <limits>

namespace partwise::training {
namespace {

// Higher is better; -infinity where the number does not exist.
double score(const nlohmann::json& row, const std::string& metric) {
  const auto seen = row.value("validation", nlohmann::json::object());
  const auto layers = seen.value("layers", nlohmann::json::array());
  const auto number = [](const nlohmann::json& of, const char* key, double sign) {
    const auto found = of.value(key, nlohmann::json());
    return found.is_number() ? sign * found.get<double>()
                             : -std::numeric_limits<double>::infinity();
  };
  if (metric == "accuracy") return number(seen, "accuracy", 1.0);
  if (metric == "purity" && !layers.empty()) return number(layers.front(), "purity", 1.0);
  if (metric == "instability" && !layers.empty())
    return number(layers.back(), "instability_ratio", -1.0);
  return number(seen, "loss", -1.0);
}

}  // namespace

const std::vector<std::string>& stop_metrics() {
  static const std::vector<std::string> names{"none", "accuracy", "loss", "purity", "instability"};
  return names;
}

Verdict judge_epochs(const std::vector<nlohmann::json>& rows,
                     const std::string& stop_on,
                     int64_t patience) {
  Verdict verdict;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = score(rows[i], stop_on);
    if (!(value > best)) continue;
    best = value;
    verdict.best_epoch = static_cast<int64_t>(i) + 1;
  }
  verdict.stop = stop_on != "none" && std::ssize(rows) - verdict.best_epoch >= patience;
  return verdict;
}

}  // namespace partwise::training
