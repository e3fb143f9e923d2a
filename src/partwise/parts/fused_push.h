#pragma once

#include "partwise/parts/filter_push.h"

namespace partwise::parts {

// The mask and what filter_push.h adds in the backward pass, by the kernels: two passes over the
// maps on the way back.

// x (1 - share + share max(U_mu-hat, 0)); can be differentiated once by the kernels, and again by
// composed operators.
Tensor mask_by_kernels(
    const Tensor& maps, const Looks& looks, const Masked& masked, const Cones& cones, double share);

// The same with the push, of a batch that the memory has just seen.
//   push.maps are of the memory's type; push.labels are the whole batch's; share: how much of the
//   mask is in force; category_shares [filter]: rho, or undefined
Tensor mask_and_push_by_kernels(const Push& push,
                                const Looks& looks,
                                const Masked& masked,
                                double share,
                                Memory& memory,
                                const PartOptions& options,
                                const Tensor& category_shares,
                                double strength,
                                const tensors::Ranks& ranks,
                                Diagnostics& diagnostics);

}  // namespace partwise::parts
