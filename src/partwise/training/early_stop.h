#pragma once

#include "partwise/base/options.h"

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
// none: never; the best epoch is then the one with the lowest loss.
enum class StopMetric { none, accuracy, loss, purity, instability };

// What the epochs of a log say.
struct Verdict {
  int64_t best_epoch = 0;  // the first of the best, counted from 1; 0: no epoch has the number
  bool stop = false;       // none of the `patience` epochs since then was better
};
Verdict judge_epochs(const std::vector<nlohmann::json>& rows, StopMetric stop_on, int64_t patience);

}  // namespace partwise::training

template <>
inline constexpr auto partwise::kWords<partwise::training::StopMetric> =
    partwise::words("none", "accuracy", "loss", "purity", "instability");
