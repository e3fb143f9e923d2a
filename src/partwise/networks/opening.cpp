#include "partwise/networks/opening.h"

#include "partwise/kernels/gpu_kernels.h"
#include "partwise/networks/pooling.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/innermost.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::networks {
namespace {

using tensors::innermost;
using tensors::kInnermost;

int64_t pooled_side(int64_t side, const MaxPool& pool) {
  return (side + 2 * pool.padding + pool.padding_end - pool.kernel) / pool.stride + 1;
}

// There is a window, and none lies in the padding alone.
bool reaches_maps(const MaxPool& pool, int64_t side) {
  return side + 2 * pool.padding + pool.padding_end >= pool.kernel &&
         pool.padding + pool.padding_end < pool.kernel;
}

// The sizes of an opening, without its tensors.
kernels::GpuOpening sizes_of(const std::vector<Tensor>& pieces,
                             const std::optional<MaxPool>& pool) {
  const auto& first = pieces.front();
  kernels::GpuOpening work;
  for (const auto& piece : pieces) {
    work.channels_of[work.pieces++] = static_cast<int>(piece.size(1));
    work.channels += static_cast<int>(piece.size(1));
  }
  work.narrow = first.scalar_type() == torch::kBFloat16;
  work.images = static_cast<int>(first.size(0));
  work.high = work.out_high = static_cast<int>(first.size(2));
  work.wide = work.out_wide = static_cast<int>(first.size(3));
  if (!pool) return work;
  work.kernel = static_cast<int>(pool->kernel);
  work.stride = static_cast<int>(pool->stride);
  work.padding = static_cast<int>(pool->padding);
  work.out_high = static_cast<int>(pooled_side(first.size(2), *pool));
  work.out_wide = static_cast<int>(pooled_side(first.size(3), *pool));
  return work;
}

// What the way back needs besides one tensor: where the maxima came from, or what came out.
struct Opened : torch::CustomClassHolder {
  kernels::GpuOpening sizes;
  bool adds_biases = false;
};

struct OpeningFunction : torch::autograd::Function<OpeningFunction> {
  // tensors: `count` pieces, then their biases
  static Tensor forward(torch::autograd::AutogradContext* context,
                        std::size_t count,
                        const std::optional<MaxPool>& pool,
                        at::TensorList tensors) {
    std::vector<Tensor> pieces;
    for (std::size_t i = 0; i < count; ++i) pieces.push_back(innermost(tensors[i]));
    const auto& first = pieces.front();
    auto holder = c10::make_intrusive<Opened>();
    holder->sizes = sizes_of(pieces, pool);
    holder->adds_biases = tensors.size() > count;
    auto work = holder->sizes;
    const bool in_place = count == 1 && !pool;
    const auto opened =
        in_place ? first
                 : torch::empty({work.images, work.channels, work.out_high, work.out_wide},
                                first.options().memory_format(kInnermost));
    Tensor from;
    if (pool) {
      from = torch::empty(opened.sizes(),
                          first.options().dtype(torch::kUInt8).memory_format(kInnermost));
      work.from = from.data_ptr<uint8_t>();
    }
    for (std::size_t i = 0; i < count; ++i) work.values[i] = pieces[i].data_ptr();
    std::vector<Tensor> biases;
    for (std::size_t i = count; i < tensors.size(); ++i) {
      biases.push_back(tensors[i].contiguous());
      work.biases[i - count] = biases.back().data_ptr<float>();
    }
    work.opened = opened.data_ptr();
    kernels::gpu_kernels(tensors::gpu_of(first))->open(work, tensors::stream_of(first));
    if (opened.is_same(tensors[0])) context->mark_dirty({tensors[0]});
    context->save_for_backward({pool ? from : opened});
    context->saved_data["opened"] = c10::IValue::make_capsule(holder);
    return opened;
  }

  static std::vector<Tensor> backward(torch::autograd::AutogradContext* context,
                                      std::vector<Tensor> gradients) {
    TORCH_CHECK(!torch::GradMode::is_enabled(),
                "biases and ReLUs in training can be differentiated once only on a GPU");
    const auto saved = context->get_saved_variables()[0];
    const auto holder = context->saved_data["opened"].toCapsule();
    const auto& sizes = static_cast<const Opened&>(*holder).sizes;
    const bool adds_biases = static_cast<const Opened&>(*holder).adds_biases;
    const auto gradient = innermost(gradients[0]);
    kernels::GpuOpeningBack work;
    work.of = sizes;
    if (saved.scalar_type() == torch::kUInt8) {
      work.of.from = saved.data_ptr<uint8_t>();
    } else {
      work.of.opened = saved.data_ptr();
    }
    std::vector<Tensor> passed;
    std::vector<int64_t> channels;
    for (int i = 0; i < sizes.pieces; ++i) {
      channels.push_back(sizes.channels_of[i]);
      passed.push_back(torch::empty({sizes.images, channels.back(), sizes.high, sizes.wide},
                                    gradient.options().memory_format(kInnermost)));
      work.passed[i] = passed.back().data_ptr();
    }
    work.gradient = gradient.data_ptr();
    Tensor parts;
    Tensor for_biases;
    if (adds_biases) {
      const auto numbers = torch::TensorOptions(gradient.device()).dtype(torch::kFloat32);
      parts = torch::empty({kernels::kGpuBiasParts, work.of.channels}, numbers);
      for_biases = torch::empty({work.of.channels}, numbers);
      work.parts = parts.data_ptr<float>();
      work.for_biases = for_biases.data_ptr<float>();
    }
    kernels::gpu_kernels(tensors::gpu_of(gradient))->open_back(work, tensors::stream_of(gradient));
    std::vector<Tensor> result(2);  // of what is no tensor
    result.insert(result.end(), passed.begin(), passed.end());
    if (!adds_biases) return result;
    if (channels.size() == 1) {
      result.push_back(for_biases);
    } else {
      for (const auto& bias : for_biases.split_with_sizes(channels)) result.push_back(bias);
    }
    return result;
  }
};

}  // namespace

bool can_open_in_one_pass(const Opening& opening) {
  const auto& [pieces, biases, pool] = opening;
  const auto& first = pieces.front();
  const auto type = first.scalar_type();
  if (kernels::gpu_kernels(tensors::gpu_of(first)) == nullptr) return false;
  if (type != torch::kBFloat16 && type != torch::kFloat32) return false;
  if (std::ssize(pieces) > kernels::kGpuSources || first.dim() != 4 || first.numel() == 0)
    return false;
  if (biases.empty() && !pool) return false;
  if (pool && (pool->kernel > kernels::kGpuMostKernel || !reaches_maps(*pool, first.size(2)) ||
               !reaches_maps(*pool, first.size(3))))
    return false;
  const auto fits = [&](const Tensor& piece) {
    return piece.scalar_type() == type && piece.size(1) % 2 == 0;
  };
  const auto plain = [&](const Tensor& bias) { return bias.scalar_type() == torch::kFloat32; };
  return std::all_of(pieces.begin(), pieces.end(), fits) &&
         std::all_of(biases.begin(), biases.end(), plain);
}

Tensor open(const Opening& opening) {
  const auto& [pieces, biases, pool] = opening;
  if (can_open_in_one_pass(opening)) {
    auto tensors = pieces;
    tensors.insert(tensors.end(), biases.begin(), biases.end());
    return OpeningFunction::apply(pieces.size(), pool, at::TensorList(tensors));
  }
  std::vector<Tensor> opened;
  for (std::size_t i = 0; i < biases.size(); ++i) {
    const auto bias = biases[i].view({1, -1, 1, 1}).to(pieces[i].scalar_type());
    opened.push_back(torch::relu(pieces[i] + bias));
  }
  if (biases.empty()) opened = pieces;
  const auto joined = opened.size() == 1 ? opened.front() : torch::cat(opened, 1);
  return pool ? max_pool(joined, *pool) : joined;
}

}  // namespace partwise::networks
