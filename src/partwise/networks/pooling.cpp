#include "partwise/networks/pooling.h"

#include "partwise/kernels/pool_kernels.h"
#include "partwise/tensors/torch.h"
#include "partwise/tensors/torch_threads.h"

#include <limits>

namespace partwise::networks {
namespace {

constexpr int64_t kLeastCells = 1 << 15;  // fewer are left to one thread

template <typename Work>
void for_planes(const Tensor& input, const Work& work) {
  const auto cells = input.size(2) * input.size(3);
  tensors::in_parallel(input.size(0) * input.size(1), kLeastCells / cells + 1,
                       [&](int64_t begin, int64_t end) {
                         work(kernels::Planes{begin, end, input.size(2), input.size(3)});
                       });
}

struct PoolPairs : torch::autograd::Function<PoolPairs> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& given) {
    const auto input = given.contiguous();
    auto pooled = torch::empty({input.size(0), input.size(1), input.size(2) / 2, input.size(3) / 2},
                               input.options());
    for_planes(input, [values = input.data_ptr<float>(),
                       out = pooled.data_ptr<float>()](const kernels::Planes& planes) {
      kernels::pool_kernels().pool(planes, values, out);
    });
    context->save_for_backward({input, pooled});
    return pooled;
  }

  static std::vector<Tensor> backward(torch::autograd::AutogradContext* context,
                                      std::vector<Tensor> gradients) {
    const auto saved = context->get_saved_variables();
    const auto& input = saved[0];
    if (torch::GradMode::is_enabled()) {  // to be differentiated again
      const auto places = std::get<1>(torch::max_pool2d_with_indices(input, 2, 2));
      return {at::max_pool2d_with_indices_backward(gradients[0], input, {2, 2}, {2, 2}, {0, 0},
                                                   {1, 1}, false, places)};
    }
    const auto gradient = gradients[0].contiguous();
    auto passed = torch::empty_like(input);
    for_planes(input, [values = input.data_ptr<float>(), pooled = saved[1].data_ptr<float>(),
                       given = gradient.data_ptr<float>(),
                       out = passed.data_ptr<float>()](const kernels::Planes& planes) {
      kernels::pool_kernels().pass_back(planes, values, pooled, given, out);
    });
    return {passed};
  }
};

bool pools_pairs(const Tensor& input, const MaxPool& pool) {
  return pool == MaxPool{} && input.is_cpu() && input.scalar_type() == torch::kFloat32 &&
         input.dim() == 4 && input.size(2) > 1 && input.size(3) > 1;
}

}  // namespace

Tensor max_pool(const Tensor& input, const MaxPool& pool) {
  if (pools_pairs(input, pool)) return PoolPairs::apply(input);
  if (pool.padding_end == 0)
    return torch::max_pool2d(input, pool.kernel, pool.stride, pool.padding);
  const auto lowest = -std::numeric_limits<float>::infinity();
  const auto end = pool.padding + pool.padding_end;
  const auto padded = torch::constant_pad_nd(input, {pool.padding, end, pool.padding, end}, lowest);
  return torch::max_pool2d(padded, pool.kernel, pool.stride);
}

}  // namespace partwise::networks
