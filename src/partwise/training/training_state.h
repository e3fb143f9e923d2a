#pragma once

#include "partwise/models/checkpoint.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"
#include "partwise/training/optimizer.h"

#include <map>
#include <string>

namespace partwise::training {

// Everything the steps to come depend on: the network with its statistics, the optimizer and what
// the running epoch's row of the log will be made of.
models::Checkpoint pack(const networks::Network& network,
                        const Optimizer& optimizer,
                        const models::Position& position);
models::Position unpack(const models::Checkpoint& checkpoint,
                        networks::Network& network,
                        Optimizer& optimizer);

// What several ranks that train one network must agree on; alone, none of this does anything.

// All go on from the leader's weights, statistics and position.
void take_from_leader(const tensors::Ranks& ranks,
                      networks::Network& network,
                      Optimizer& optimizer,
                      models::Position& position);

// Ranks that took the same steps hold the same bits; a sum that differs shows one that went astray.
void require_equal_weights(const tensors::Ranks& ranks, const networks::Network& network);

// Options (and what else `settled` says) are the same on all ranks; else an Error on every one of
// them that names a rank that was started with others.
void require_same_on_all(const tensors::Ranks& ranks, const nlohmann::json& settled);

// A signal reaches the ranks at different times; they must stop at the same step.
bool stop_requested(const tensors::Ranks& ranks);

// Where a step that has gone wrong went wrong, in words: the first weight or output on the way
// forward that is not finite, or else the first gradient on the way back. The step's images go
// through the network once more.
std::string non_finite_place(networks::Network& network,
                             const Tensor& images,
                             const Tensor& category);

// An Error names the first of the weights that is not finite; `place` is where they come from.
void require_finite_weights(const std::map<std::string, Tensor>& state, const std::string& place);

}  // namespace partwise::training
