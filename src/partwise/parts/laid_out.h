#pragma once

#include "partwise/kernels/map_kernels.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"
#include "partwise/tensors/torch_threads.h"

#include <cmath>

// For the sources that call the CPU's kernels: tensors as they read them, and the work shared out
// among threads.
namespace partwise::parts {

inline constexpr int64_t kMapsPerThread = 256;  // fewer are not worth another thread

inline kernels::Batch batch_of(const Tensor& maps) {
  const auto cells = maps.dim() == 4 ? maps.size(2) * maps.size(3) : maps.size(2);
  return {maps.size(0), maps.size(1), std::llround(std::sqrt(static_cast<double>(cells)))};
}

template <class T>
const T* read(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

// Work on `count` maps of a batch, by its type.
template <class Work>
void over_some(const Tensor& maps, int64_t count, int64_t per_thread, const Work& work) {
  const auto batch = batch_of(maps);
  const auto run = [&](auto zero) {
    const auto& table = kernels::map_kernels<decltype(zero)>();
    tensors::in_parallel(count, per_thread, [&](int64_t begin, int64_t end) {
      work(table, batch, kernels::Range{begin, end}, zero);
    });
  };
  if (maps.scalar_type() == torch::kFloat64) {
    run(double{});
  } else {
    run(float{});
  }
}

template <class Work>
void over_maps(const Tensor& maps, const Work& work) {
  over_some(maps, batch_of(maps).maps(), kMapsPerThread, work);
}

// All that the kernels read must be of the maps' type and lie in one piece.
inline Tensor laid_out(const Tensor& tensor, const Tensor& maps) {
  const bool as_it_is =
      !tensor.defined() || (tensor.scalar_type() == maps.scalar_type() && tensor.is_contiguous());
  return as_it_is ? tensor : tensor.detach().to(maps.scalar_type()).contiguous();
}

inline Tensor per_map(const Tensor& maps, at::ScalarType type) {
  return torch::empty({maps.size(0), maps.size(1)},
                      maps.options().dtype(type).requires_grad(false));
}

inline Tensor per_map(const Tensor& maps) {
  return per_map(maps, maps.scalar_type());
}

inline Tensor like(const Tensor& maps) {
  return torch::empty(maps.sizes(), maps.options().requires_grad(false));
}

struct LaidOutCones {
  LaidOutCones(const Cones& cones, const Tensor& maps)
      : distances(laid_out(cones.distances, maps)), slopes(laid_out(cones.slopes, maps)) {}

  template <class T>
  kernels::TemplatesAt<T> at(const Tensor& peaks) const {
    return {peaks.data_ptr<int64_t>(), read<T>(slopes), read<T>(distances)};
  }

  Tensor distances;
  Tensor slopes;
};

}  // namespace partwise::parts
