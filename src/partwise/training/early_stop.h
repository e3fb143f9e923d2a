#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace partwise::training {

// What a training can be stopped on, measured on its validation images:
//   accuracy     higher is better
//   loss         lower
//   purity       of the first tapped layer, higher
//   instability  D / D_shuffle of the last one, lower
// "none": never; the best epoch is then the one with the lowest loss.
const std::vector<std::string>& stop_metrics();

// What the epochs of a log say.
struct Verdict {
  int64_t best_epoch = 0;  // the first of the best, counted from 1; 0: no epoch has the number
  bool stop = false;       // none of the `patience` epochs since then was better
};
Verdict judge_epochs(const std::vector<nlohmann::json>& rows,
                     const std::string& stop_on,
                     int64_t patience);

}  // namespace partwise::training
