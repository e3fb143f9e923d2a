#pragma once

#include "partwise/networks/network.h"

#include <cstddef>

namespace partwise::networks {

// What a masked layer did to its maps, [batch, filter, n, n] each, where the mask lies: behind
// pooling, where it does.
struct MaskSteps {
  Tensor maps;    // after ReLU
  Tensor masks;   // what it lets through
  Tensor masked;  // what came out
};

// tap: index into Architecture::taps, of a layer with a mask; output: the network's own
MaskSteps mask_steps(const Network& network, std::size_t tap, const Output& output);

}  // namespace partwise::networks
