#pragma once

#include "partwise/tensors/tensor.h"

#include <cstdint>
#include <functional>

namespace partwise::judging {

// Values and gradients of one function per row at one point per row.
struct BoxValues {
  Tensor values;     // [rows]
  Tensor gradients;  // [rows, variables]
};
using BoxFunction = std::function<BoxValues(const Tensor& points)>;  // [rows, variables]

struct BoxMinimiserOptions {
  int64_t steps = 40;
  int64_t memory = 8;  // how many pairs of steps the curvature is known from
  int64_t trials = 6;  // points a line search looks at
};

// The points where each row's function is smallest (locally) in the box [0, 1]^variables, by
// limited-memory BFGS with projection: variables that lie on their bound and are pushed outwards
// are held, the two-loop recursion gives the direction of the others, and the step, projected onto
// the box, is halved until it satisfies Armijo's condition. Rows know nothing of each other but
// move in step, so that a network is asked about all of them at once; the values never rise. Ends
// early when no row moves.
Tensor minimise_in_box(const BoxFunction& function,
                       const Tensor& start,
                       const BoxMinimiserOptions& options);

}  // namespace partwise::judging
