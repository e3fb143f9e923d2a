#pragma once

#include "partwise/tensors/tensor.h"

namespace partwise::tensors {

inline constexpr auto kInnermost = at::MemoryFormat::ChannelsLast;

// Maps as a GPU's kernels take them: the channels innermost, and two numbers where they can be read
// at once. The same tensor where it is so already.
Tensor innermost(const Tensor& maps);

}  // namespace partwise::tensors
