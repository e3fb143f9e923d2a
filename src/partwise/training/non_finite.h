#pragma once

#include "partwise/networks/network.h"
#include "partwise/tensors/tensor.h"

#include <map>
#include <string>

namespace partwise::training {

// Where a step that has gone wrong went wrong, in words: the first weight or output on the way
// forward that is not finite, or else the first gradient on the way back. The step's images go
// through the network once more.
std::string non_finite_place(networks::Network& network,
                             const Tensor& images,
                             const Tensor& category);

// An Error names the first of the weights that is not finite; `place` is where they come from.
void require_finite_weights(const std::map<std::string, Tensor>& state, const std::string& place);

}  // namespace partwise::training
