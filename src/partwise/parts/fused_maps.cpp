#include "partwise/parts/fused_maps.h"

#include "partwise/parts/laid_out.h"
#include "partwise/parts/mask.h"

#include <algorithm>
#include <utility>

namespace partwise::parts {
namespace {

thread_local bool composed = false;

constexpr int64_t kPairsAtOnce = 32;  // stay in the first cache between two passes

// The maps of the first half; `work` does those of the second, too.
template <class Work>
void over_pairs(const Tensor& maps, const Work& work) {
  over_some(maps, (batch_of(maps).maps() + 1) / 2, kMapsPerThread / 2, work);
}

Looks empty_looks(const Tensor& maps) {
  return {per_map(maps, torch::kInt64), per_map(maps, torch::kInt64), per_map(maps), per_map(maps),
          per_map(maps)};
}

template <class T>
kernels::Looks<T> kernel_looks(const Looks& looks) {
  return {looks.peaks.data_ptr<int64_t>(), looks.strongest.data_ptr<int64_t>(),
          looks.tops.data_ptr<T>(), looks.masses.data_ptr<T>(), looks.squares.data_ptr<T>()};
}

Masked empty_masked(const Tensor& maps) {
  return {like(maps), per_map(maps), per_map(maps)};
}

template <class T>
kernels::Fits<T> kernel_fits(const Masked& masked) {
  return {masked.fits.data_ptr<T>(), masked.foreign_fits.data_ptr<T>()};
}

}  // namespace

ComposedOperators::ComposedOperators() : before_(std::exchange(composed, true)) {}

ComposedOperators::~ComposedOperators() {
  composed = before_;
}

bool composes_operators() {
  return composed;
}

bool can_fuse(const Tensor& maps) {
  const auto type = maps.scalar_type();
  return !composed && maps.device().is_cpu() &&
         (type == torch::kFloat32 || type == torch::kFloat64);
}

Looks look_at(const Tensor& maps, const Tensor& values, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  if (!can_fuse(maps) || values.scalar_type() != maps.scalar_type()) {
    const auto flat = values.flatten(2);
    return {peak_cells(maps, options), flat.argmax(2), flat.amax(2), flat.sum(2), {}};
  }
  const auto x = laid_out(values, values);
  auto looks = empty_looks(x);
  over_maps(x, [&](const auto& table, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    table.look(batch, range, read<T>(x), options.peak == Peak::centroid, kernel_looks<T>(looks));
  });
  return looks;
}

Tensor sums_at(const Tensor& maps, const Tensor& peaks, const Tensor& table) {
  const auto x = laid_out(maps, maps);
  const auto cells = peaks.contiguous();
  const auto rows = laid_out(table, maps);
  auto sums = per_map(x);
  over_maps(x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.weigh(batch, range, read<T>(x), cells.template data_ptr<int64_t>(), read<T>(rows),
                 sums.template data_ptr<T>());
  });
  return sums;
}

Tensor fits_at(const Tensor& maps, const Tensor& peaks, const Cones& cones) {
  const auto x = laid_out(maps, maps);
  const auto cells = peaks.contiguous();
  const LaidOutCones templates(cones, maps);
  auto fits = per_map(x);
  over_maps(x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.fit(batch, range, read<T>(x), templates.at<T>(cells), fits.template data_ptr<T>());
  });
  return fits;
}

Tensor dots_of(const Tensor& maps, const Tensor& others) {
  const auto x = laid_out(maps, maps);
  const auto y = laid_out(others, maps);
  auto sums = per_map(x);
  over_maps(x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.dot(batch, range, read<T>(x), read<T>(y), sums.template data_ptr<T>());
  });
  return sums;
}

Masked mask_and_fit(const Tensor& maps, const Tensor& peaks, const Cones& cones, double share) {
  const auto x = laid_out(maps, maps);
  const auto cells = peaks.contiguous();
  const LaidOutCones templates(cones, maps);
  const auto masked = empty_masked(x);
  over_pairs(x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.mask_pairs(batch, range, read<T>(x), templates.at<T>(cells), static_cast<T>(share),
                      kernel_fits<T>(masked), masked.maps.template data_ptr<T>());
  });
  return masked;
}

Seen look_and_mask(const Tensor& maps,
                   const Cones& cones,
                   double share,
                   const PartOptions& options) {
  const auto x = laid_out(maps, maps);
  const LaidOutCones templates(cones, maps);
  const Seen seen{empty_looks(x), empty_masked(x)};
  over_pairs(x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    const auto look = [&](int64_t begin, int64_t end) {
      kernel.look(batch, {begin, end}, read<T>(x), options.peak == Peak::centroid,
                  kernel_looks<T>(seen.looks));
    };
    for (auto begin = range.begin; begin < range.end; begin += kPairsAtOnce) {
      const auto end = std::min(begin + kPairsAtOnce, range.end);
      look(begin, end);
      look(batch.maps() - end, batch.maps() - begin);
      kernel.mask_pairs(batch, {begin, end}, read<T>(x), templates.at<T>(seen.looks.peaks),
                        static_cast<T>(share), kernel_fits<T>(seen.masked),
                        seen.masked.maps.template data_ptr<T>());
    }
  });
  return seen;
}

Tensor masked_at(const Tensor& maps, const Tensor& peaks, const Cones& cones, double share) {
  const auto x = laid_out(maps, maps);
  const auto cells = peaks.contiguous();
  const LaidOutCones templates(cones, maps);
  auto masked = like(x);
  over_maps(x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.mask(batch, range, read<T>(x), templates.at<T>(cells), static_cast<T>(share),
                masked.template data_ptr<T>());
  });
  return masked;
}

}  // namespace partwise::parts
