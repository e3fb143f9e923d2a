#include "partwise/judging/extra_metrics.h"

#include "partwise/base/names.h"

#include <algorithm>
#include <sstream>

namespace partwise::judging {

const std::vector<std::string>& extra_metric_names() {
  static const std::vector<std::string> names{
      "single_filter", "activation_magnitude", "part_labels",    "network_dissection",
      "patch_purity",  "part_consistency",     "part_stability", "class_selectivity"};
  return names;
}

std::vector<std::string> extra_metrics_from(const std::string& list,
                                            const std::vector<std::string>& known) {
  std::vector<std::string> extras;
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, ',');) {
    index_of_name("metric", name, known);
    if (!wants(extras, name)) extras.push_back(name);
  }
  return extras;
}

bool wants(const std::vector<std::string>& extras, const std::string& name) {
  return std::find(extras.begin(), extras.end(), name) != extras.end();
}

}  // namespace partwise::judging
