#pragma once

#include "partwise/parts/part_option_fields.h"

#include <cstdint>

namespace partwise::parts {

// What a rule does to the maps of one filter when nothing else pulls at them: n = 14, 36 maps of
// the filter's category with four blobs each, 12 of others, heights around `scale`. Each of 200
// steps moves the maps by 3 % of their first norm along the layer's own filter gradient.
struct ToyOutcome {
  double purity_before = 0.0;  // of the 36, at beta = 4: sum x 1(U_mu-hat > 0) / sum x, mean
  double purity = 0.0;
  double loudest_negative = 0.0;   // max of the 12, as a multiple of what it was
  double effective_samples = 0.0;  // share of the 36 that carry the weights, at the start
};

// ascend: follow the sign as the paper's main text prints it.
ToyOutcome move_free_maps(const PartOptions& options,
                          double scale,
                          uint64_t seed,
                          bool ascend = false);

}  // namespace partwise::parts
