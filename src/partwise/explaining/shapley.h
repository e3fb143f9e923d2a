#pragma once

#include "partwise/networks/head.h"

#include <cstdint>

namespace partwise::explaining {

struct ShapleyOptions {
  int64_t most_exact = 12;     // players up to which all coalitions are asked
  int64_t most_samples = 512;  // orders drawn above that, at the most; an even number
  double most_work = 2e9;      // multiplications they may cost together, but for 8 orders
  uint64_t seed = 1;
};

// What each player adds to a network's answers. Players are filters or groups of them; one that is
// left out is silenced. For every output the values sum to the answer of all players minus the
// baseline, that of none.
struct Contributions {
  Tensor values;    // [players, outputs] float64
  Tensor errors;    // [players, outputs]: standard errors of the drawing; zeros where it is exact
  Tensor baseline;  // [outputs]
  Tensor whole;     // [outputs]
  bool exact = true;
  int64_t orders = 0;  // that were drawn; 0 where all coalitions were asked

  // The largest gap between sum and difference over the outputs: rounding, nothing else.
  double completeness_error() const;
};

// Shapley values: the mean, over the orders in which players can join, of what one changes when it
// joins. Exact up to options.most_exact players that add anything; above, from random orders and
// their reverses. Players that add nothing have value 0 and cost nothing.
//   added [players, width]: what each adds to the first fully connected layer (Head::by_filter)
Contributions shapley_values(const networks::Head& head,
                             const Tensor& added,
                             const ShapleyOptions& options = {});

// What the answers lose when one player alone is silenced: [players, outputs] float64.
Tensor silenced_alone(const networks::Head& head, const Tensor& added);

}  // namespace partwise::explaining
