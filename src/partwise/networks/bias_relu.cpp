#include "partwise/networks/bias_relu.h"

#include "partwise/kernels/gpu_kernels.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/torch.h"

namespace partwise::networks {
namespace {

constexpr auto kInnermost = at::MemoryFormat::ChannelsLast;

struct BiasReluFunction : torch::autograd::Function<BiasReluFunction> {
  static Tensor forward(torch::autograd::AutogradContext* context,
                        const Tensor& x,
                        const Tensor& bias) {
    auto values = x.is_contiguous(kInnermost) ? x : x.contiguous(kInnermost);
    kernels::GpuBiasRelu work;
    work.values = values.data_ptr();
    work.bias = bias.data_ptr<float>();
    work.rows = values.numel() / values.size(1);
    work.channels = static_cast<int>(values.size(1));
    work.narrow = values.scalar_type() == torch::kBFloat16;
    kernels::gpu_kernels(tensors::gpu_of(values))->bias_relu(work, tensors::stream_of(values));
    if (values.is_same(x)) context->mark_dirty({x});
    context->save_for_backward({values});
    return values;
  }

  static std::vector<Tensor> backward(torch::autograd::AutogradContext* context,
                                      std::vector<Tensor> gradients) {
    const auto values = context->get_saved_variables()[0];
    const auto gradient = gradients[0].to(values.scalar_type()).contiguous(kInnermost);
    const auto numbers = values.options().dtype(torch::kFloat32).memory_format(c10::nullopt);
    auto passed = torch::empty_like(gradient, {}, kInnermost);
    const auto parts = torch::empty({kernels::kGpuBiasParts, values.size(1)}, numbers);
    auto for_bias = torch::empty({values.size(1)}, numbers);
    kernels::GpuBiasReluBack work;
    work.values = values.data_ptr();
    work.gradient = gradient.data_ptr();
    work.passed = passed.data_ptr();
    work.parts = parts.data_ptr<float>();
    work.for_bias = for_bias.data_ptr<float>();
    work.rows = values.numel() / values.size(1);
    work.channels = static_cast<int>(values.size(1));
    work.narrow = values.scalar_type() == torch::kBFloat16;
    kernels::gpu_kernels(tensors::gpu_of(values))->bias_relu_back(work, tensors::stream_of(values));
    return {passed, for_bias};
  }
};

}  // namespace

bool can_add_bias_in_relu(const Tensor& x, const Tensor& bias) {
  const auto type = x.scalar_type();
  return kernels::gpu_kernels(tensors::gpu_of(x)) != nullptr && x.dim() == 4 &&
         (type == torch::kBFloat16 || type == torch::kFloat32) && x.size(1) % 2 == 0 &&
         x.numel() > 0 && bias.scalar_type() == torch::kFloat32 && bias.is_contiguous();
}

Tensor bias_relu(const Tensor& x, const Tensor& bias) {
  return BiasReluFunction::apply(x, bias);
}

}  // namespace partwise::networks
