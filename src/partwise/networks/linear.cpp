#include "partwise/networks/linear.h"

#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"
#include "partwise/tensors/torch_threads.h"

#include <algorithm>

namespace partwise::networks {
namespace {

constexpr int64_t kLeastWork = 1 << 20;  // products and sums; less is not worth a second thread

// Calls body(begin, length) for every block of [0, count), side by side.
template <typename Body>
void for_blocks(int64_t count, int64_t block, const Body& body) {
  tensors::in_parallel((count + block - 1) / block, 1, [&](int64_t first, int64_t last) {
    const torch::NoGradGuard no_grad;  // each thread has its own
    for (int64_t i = first; i < last; ++i) body(i * block, std::min(block, count - i * block));
  });
}

// Columns per block: whole vectors, and several blocks for every thread.
int64_t block_of(int64_t columns) {
  constexpr int64_t kBlocks = 16;
  constexpr int64_t kVector = 16;
  return std::max(kVector, (columns / kBlocks + kVector - 1) / kVector * kVector);
}

class SharedLinear : public torch::autograd::Function<SharedLinear> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context,
                        const Tensor& input,
                        const Tensor& weight,
                        const Tensor& bias) {
    context->save_for_backward({input, weight});
    auto output = torch::empty({input.size(0), weight.size(0)}, input.options());
    for_blocks(weight.size(0), block_of(weight.size(0)), [&](int64_t begin, int64_t length) {
      auto columns = output.narrow(1, begin, length);
      at::addmm_out(columns, bias.narrow(0, begin, length), input,
                    weight.narrow(0, begin, length).t());
    });
    return output;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& [input, weight] = std::tie(saved[0], saved[1]);
    const auto given = gradients[0].contiguous();
    const bool input_learns = context->needs_input_grad(0);
    auto for_input = input_learns ? torch::empty_like(input) : Tensor();
    auto for_weight = torch::empty_like(weight);
    for_blocks(weight.size(1), block_of(weight.size(1)), [&](int64_t begin, int64_t length) {
      auto columns = for_weight.narrow(1, begin, length);
      at::mm_out(columns, given.t(), input.narrow(1, begin, length));
      if (!input_learns) return;
      auto own = for_input.narrow(1, begin, length);
      at::mm_out(own, given, weight.narrow(1, begin, length));
    });
    return {for_input, for_weight, given.sum(0)};
  }
};

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const bool shared = input.is_cpu() && input.dim() == 2 && bias.defined() &&
                      input.scalar_type() == weight.scalar_type() && !tensors::rounds_products() &&
                      input.size(0) * weight.numel() >= kLeastWork;
  return shared ? SharedLinear::apply(input, weight, bias) : torch::linear(input, weight, bias);
}

}  // namespace partwise::networks
