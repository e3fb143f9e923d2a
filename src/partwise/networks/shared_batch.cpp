#include "partwise/networks/shared_batch.h"

#include "partwise/tensors/torch.h"

#include <numeric>

namespace partwise::networks {
namespace {

struct KeptRanks : torch::CustomClassHolder {
  explicit KeptRanks(const tensors::Ranks& given) : ranks(given) {}
  tensors::Ranks ranks;
};

// One value a channel, shaped to stand beside [rows, channel, ...].
Tensor beside(const Tensor& per_channel, const Tensor& input) {
  std::vector<int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[1] = per_channel.numel();
  return per_channel.view(shape);
}

Tensor sum_of_channels(const Tensor& input) {
  std::vector<int64_t> others(static_cast<std::size_t>(input.dim()));
  std::iota(others.begin(), others.end(), int64_t{0});
  others.erase(others.begin() + 1);
  return input.sum(others);
}

// y = weight (x - mean) / sqrt(variance + epsilon) + bias, mean and variance over all ranks:
//   dx = weight / sqrt(..) (dy - mean(dy) - x^ mean(dy x^)),  x^ the normalised x
// The gradients of weight and bias are this rank's part of theirs.
class NormOverRanks : public torch::autograd::Function<NormOverRanks> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context,
                        const Tensor& input,
                        const Tensor& weight,
                        const Tensor& bias,
                        Tensor running_mean,
                        Tensor running_variance,
                        const SharedBatch& batch) {
    const auto wide = input.to(weight.scalar_type());  // a half type would round the sums
    const auto own = static_cast<double>(input.numel() / input.size(1));
    const double count =
        own / static_cast<double>(input.size(0)) * static_cast<double>(batch.images);
    const auto mean = batch.ranks.sum(sum_of_channels(wide)) / count;
    const auto squares = sum_of_channels((wide - beside(mean, wide)).square());
    const auto variance = batch.ranks.sum(squares) / count;
    running_mean.mul_(1.0 - kNormMemory).add_(mean, kNormMemory);
    running_variance.mul_(1.0 - kNormMemory).add_(variance, kNormMemory * count / (count - 1.0));
    context->save_for_backward({input, weight, mean, (variance + kNormEpsilon).rsqrt()});
    context->saved_data["count"] = count;
    context->saved_data["ranks"] =
        c10::IValue::make_capsule(c10::make_intrusive<KeptRanks>(batch.ranks));
    return torch::batch_norm(wide, weight, bias, mean, variance, /*training=*/false, kNormMemory,
                             kNormEpsilon, /*cudnn_enabled=*/false)
        .to(input.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& [input, weight, mean, inverse] = std::tie(saved[0], saved[1], saved[2], saved[3]);
    const auto kept = context->saved_data["ranks"].toCapsule();
    const auto& ranks = static_cast<const KeptRanks&>(*kept).ranks;
    const auto given = gradients[0].to(weight.scalar_type());
    const auto normal =
        (input.to(weight.scalar_type()) - beside(mean, input)) * beside(inverse, input);
    const auto for_weight = sum_of_channels(given * normal);
    const auto for_bias = sum_of_channels(given);
    const auto means =
        ranks.sum(torch::stack({for_bias, for_weight})) / context->saved_data["count"].toDouble();
    const auto for_input = (given - beside(means[0], input) - normal * beside(means[1], input)) *
                           beside(weight * inverse, input);
    return {for_input.to(input.scalar_type()), for_weight, for_bias, Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor batch_norm(const Tensor& input,
                  const Tensor& weight,
                  const Tensor& bias,
                  const Tensor& running_mean,
                  const Tensor& running_variance,
                  const SharedBatch& batch) {
  if (batch.ranks.alone()) {
    return torch::batch_norm(input, weight, bias, running_mean, running_variance, /*training=*/true,
                             kNormMemory, kNormEpsilon, /*cudnn_enabled=*/true);
  }
  return NormOverRanks::apply(input, weight, bias, running_mean, running_variance, batch);
}

Tensor dropout(const Tensor& input, double drop, const SharedBatch& batch) {
  if (batch.ranks.alone()) return torch::dropout(input, drop, /*train=*/true);
  auto shape = input.sizes().vec();
  shape.front() = batch.images;
  const auto [begin, end] = batch.ranks.share(batch.images);
  const auto kept = torch::empty(shape, input.options().requires_grad(false))
                        .bernoulli_(1.0 - drop)
                        .div_(1.0 - drop);
  return input * kept.slice(0, begin, end);
}

}  // namespace partwise::networks
