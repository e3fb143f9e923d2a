#pragma once

#include "partwise/networks/network.h"

#include <nlohmann/json.hpp>

namespace partwise::training {

// What happened in the interpretable layers since the last look, one object a layer, as `layers` of
// a row of log.jsonl; a layer whose guard held the filter loss back is named to the user.
nlohmann::json take_layer_rows(networks::Network& network);

}  // namespace partwise::training
