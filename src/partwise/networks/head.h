#pragma once

#include "partwise/networks/network.h"

namespace partwise::networks {

// The fully connected layers on their own. The first of them is linear in the maps it is given, so
// what any set of filters decides follows from one product per filter and costs the layers behind
// it alone: nothing below runs again.
class Head {
 public:
  explicit Head(const Network& network);

  // What each filter adds to the first layer: [batch, filter, width].
  //   features [batch, filter, k, k], see Output
  Tensor by_filter(const Tensor& features) const;
  // The answer to a sum of what filters add: [.., width] -> [.., outputs]. Of all filters it is the
  // network's; of none (zeros) its baseline, as if the layer saw nothing.
  Tensor logits(const Tensor& sums) const;

  int64_t width() const;
  // Multiplications of one answer.
  int64_t work() const;

 private:
  const Network& network_;
  int64_t first_ = 0;  // index of the first linear layer
};

}  // namespace partwise::networks
