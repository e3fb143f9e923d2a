#pragma once

#include "partwise/networks/network.h"
#include "partwise/parts/part_option_fields.h"
#include "partwise/runs/run_folder.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partwise::training {

// The run's log up to this epoch: rows of epochs whose checkpoint was lost would be repeated.
std::vector<nlohmann::json> rows_until(const runs::RunFolder& run, int64_t epoch);

// What happened in the interpretable layers since the last look, one object per layer, as `layers`
// of a row of log.jsonl; a layer whose guard held the filter loss back is named to the user.
nlohmann::json take_layer_rows(networks::Network& network);

// What to tell of the interpretable layers when it holds for the last of these rows and for none
// before: more than a quarter of a layer's filters are silent, or a category has less than a third
// of its fair share of filters.
std::vector<std::string> layer_warnings(const std::vector<nlohmann::json>& rows,
                                        const std::vector<std::string>& categories,
                                        parts::Assignment assignment);

// What to tell when the last of these rows is the first whose training loss is above the first
// epoch's: accuracy may hardly show it. Names how much louder each interpretable layer has become
// since then (decision 0011).
std::optional<std::string> runaway_warning(const std::vector<nlohmann::json>& rows);

}  // namespace partwise::training
