#pragma once

#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

namespace partwise::parts {

// The filters of a layer vote on the category of each image, as if they alone had to decide it:
//   v_kf = min(max_ij x_kf / s, 1.5),  s the median over the filters of E[max x] on their category
//   z_kc = (8 / F_c) sum_{f: c(f) = c} v_kf,  F_c the number of filters of category c
//   L = - (1 / batch) sum_k log softmax(z_k)_{y_k}
// Images without a category do not count in the sum. A filter that fires on images of others makes
// the vote worse; one that stays silent on its own as well.
struct Vote {
  Tensor loss;      // []: L
  Tensor gradient;  // [batch, filter]: dL / d max_ij x_kf
};

//   tops [batch, filter]: max_ij x; filter_category [filter] int64; category [batch] int64, -1:
//   none; scale []: s, > 0; images: how many the batch has on all ranks
Vote vote(const Tensor& tops,
          const Tensor& filter_category,
          const Tensor& category,
          int64_t categories,
          const Tensor& scale,
          int64_t images,
          const tensors::Ranks& ranks = {});

}  // namespace partwise::parts
