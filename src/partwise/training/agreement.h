#pragma once

#include "partwise/networks/network.h"
#include "partwise/tensors/ranks.h"
#include "partwise/training/checkpoint.h"
#include "partwise/training/optimizer.h"

namespace partwise::training {

// What several ranks that train one network must agree on; alone, none of this does anything.

// All go on from the leader's weights, statistics and position.
void take_from_leader(const tensors::Ranks& ranks,
                      networks::Network& network,
                      Optimizer& optimizer,
                      Position& position);

// Ranks that took the same steps hold the same bits; a sum that differs shows one that went astray.
void require_equal_weights(const tensors::Ranks& ranks, const networks::Network& network);

// A signal reaches the ranks at different times; they must stop at the same step.
bool stop_requested(const tensors::Ranks& ranks);

}  // namespace partwise::training
