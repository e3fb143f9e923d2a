#include "partwise/training/early_stop.h"

#include <limits>

namespace partwise::training {
namespace {

// Higher is better; -infinity where the number does not exist.
double score(const nlohmann::json& row, StopMetric metric) {
  const auto seen = row.value("validation", nlohmann::json::object());
  const auto layers = seen.value("layers", nlohmann::json::array());
  const auto number = [](const nlohmann::json& of, const char* key, double sign) {
    const auto found = of.value(key, nlohmann::json());
    return found.is_number() ? sign * found.get<double>()
                             : -std::numeric_limits<double>::infinity();
  };
  switch (metric) {
    case StopMetric::accuracy:
      return number(seen, "accuracy", 1.0);
    case StopMetric::purity:
      if (layers.empty()) break;
      return number(layers.front(), "purity", 1.0);
    case StopMetric::instability:
      if (layers.empty()) break;
      return number(layers.back(), "instability_ratio", -1.0);
    case StopMetric::none:
    case StopMetric::loss:
      break;
  }
  return number(seen, "loss", -1.0);
}

}  // namespace

Verdict judge_epochs(const std::vector<nlohmann::json>& rows,
                     StopMetric stop_on,
                     int64_t patience) {
  Verdict verdict;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = score(rows[i], stop_on);
    if (!(value > best)) continue;
    best = value;
    verdict.best_epoch = static_cast<int64_t>(i) + 1;
  }
  verdict.stop = stop_on != StopMetric::none && std::ssize(rows) - verdict.best_epoch >= patience;
  return verdict;
}

}  // namespace partwise::training
