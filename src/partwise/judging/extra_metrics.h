#pragma once

#include <string>
#include <vector>

namespace partwise::judging {

// What can be measured of a layer besides purity, location instability and part interpretability,
// which always are. Names of --metrics:
//   single_filter  activation_magnitude  part_labels  network_dissection  patch_purity
//   part_consistency  part_stability  class_selectivity
const std::vector<std::string>& extra_metric_names();

// "a,b" as a list; a name that is not `known` is an Error that lists the valid ones.
std::vector<std::string> extra_metrics_from(const std::string& list,
                                            const std::vector<std::string>& known);

bool wants(const std::vector<std::string>& extras, const std::string& name);

}  // namespace partwise::judging
