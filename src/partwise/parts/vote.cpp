#include "partwise/parts/vote.h"

#include "partwise/kernels/method_constants.h"
#include "partwise/tensors/torch.h"

namespace partwise::parts {

using kernels::kMostOfOne;
using kernels::kSharpness;

Vote vote(const Tensor& tops,
          const Tensor& filter_category,
          const Tensor& category,
          int64_t categories,
          const Tensor& scale,
          int64_t images,
          const tensors::Ranks& ranks) {
  const torch::NoGradGuard no_grad;
  const auto all = torch::arange(categories, category.options());
  const auto member = filter_category.unsqueeze(1).eq(all).to(tops.scalar_type());  // [filter, c]
  const auto weight = kSharpness * member / member.sum(0).clamp_min(1.0);
  const auto loudness = tops / scale;
  const auto votes = loudness.clamp_max(kMostOfOne).matmul(weight);         // [batch, c]
  const auto truth = category.unsqueeze(1).eq(all).to(tops.scalar_type());  // [batch, c]
  const auto log_share = votes.log_softmax(1);
  const auto known = truth.sum(1, true);
  const auto whole = static_cast<double>(images);
  const auto too_much = (log_share.exp() * known - truth).matmul(weight.t());
  return {ranks.sum(-(log_share * truth).sum()) / whole,
          too_much * (loudness < kMostOfOne) / (scale * whole)};
}

}  // namespace partwise::parts
