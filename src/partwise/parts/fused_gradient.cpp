#include "partwise/parts/fused_gradient.h"

#include "partwise/parts/laid_out.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unistd.h>
#include <utility>

namespace partwise::parts {
namespace {

thread_local int64_t second_cache = -1;  // bytes; -1: as the machine says

int64_t bytes_of_second_cache() {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  static const int64_t known = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
  static const int64_t known = 0;
#endif
  return second_cache >= 0 ? second_cache : known;
}

constexpr int64_t kDeepCache = 2 << 20;  // bytes
constexpr int64_t kMostPushed = 8;       // filters; more bring nothing
constexpr int64_t kFewestPushed = 4;     // fewer read too little of an image in one piece

struct LaidOutPush {
  LaidOutPush(const MapPush& push, const Tensor& maps)
      : strongest(push.strongest.contiguous()), numbers{laid_out(push.constant, maps),
                                                        laid_out(push.pull, maps),
                                                        laid_out(push.scaling, maps),
                                                        laid_out(push.factor, maps),
                                                        laid_out(push.raise, maps),
                                                        laid_out(push.lift, maps),
                                                        laid_out(push.dense, maps)} {}

  template <class T>
  kernels::Push<T> at(const LaidOutCones& cones, const Tensor& peaks) const {
    return {cones.at<T>(peaks),  read<T>(numbers[0]), read<T>(numbers[1]),
            read<T>(numbers[2]), read<T>(numbers[3]), strongest.data_ptr<int64_t>(),
            read<T>(numbers[4]), read<T>(numbers[5]), read<T>(numbers[6])};
  }

  Tensor strongest;
  std::array<Tensor, 7> numbers;
};

// What a backward pass reads.
struct LaidOutBackward {
  LaidOutBackward(const Tensor& maps,
                  const Tensor& gradient,
                  const Tensor& at,
                  const Cones& cones,
                  const MapPush& push)
      : x(laid_out(maps, maps)),
        g(laid_out(gradient, maps)),
        peaks(at.contiguous()),
        templates(cones, maps),
        pushes(push, maps) {}

  template <class T>
  kernels::Push<T> push() const {
    return pushes.at<T>(templates, peaks);
  }

  Tensor x;
  Tensor g;
  Tensor peaks;
  LaidOutCones templates;
  LaidOutPush pushes;
};

}  // namespace

SecondCache::SecondCache(int64_t bytes) : before_(std::exchange(second_cache, bytes)) {}

SecondCache::~SecondCache() {
  second_cache = before_;
}

Squares squares_at(const Tensor& maps,
                   const Tensor& gradient,
                   const Tensor& peaks,
                   const Cones& cones,
                   double share,
                   const MapPush& push) {
  const LaidOutBackward in(maps, gradient, peaks, cones, push);
  Squares squares{per_map(in.x), per_map(in.x)};
  over_maps(in.x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.norms(batch, range, read<T>(in.x), read<T>(in.g), in.push<T>(), static_cast<T>(share),
                 squares.task.template data_ptr<T>(), squares.push.template data_ptr<T>());
  });
  return squares;
}

Tensor lift_squares_at(const Tensor& maps,
                       const Tensor& strongest,
                       const Cones& cones,
                       const Tensor& wanted) {
  const auto x = laid_out(maps, maps);
  const auto cells = strongest.contiguous();
  const auto chosen = laid_out(wanted, maps);
  const LaidOutCones templates(cones, maps);
  auto squares = per_map(x);
  over_maps(x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.lift_squares(batch, range, read<T>(x), templates.at<T>(cells), read<T>(chosen),
                        squares.template data_ptr<T>());
  });
  return squares;
}

Pushed push_at(const Tensor& maps,
               const Tensor& gradient,
               const Tensor& peaks,
               const Cones& cones,
               double share,
               const MapPush& push) {
  const LaidOutBackward in(maps, gradient, peaks, cones, push);
  Pushed pushed{like(in.x), per_map(in.x)};
  over_maps(in.x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.push(batch, range, read<T>(in.x), read<T>(in.g), in.push<T>(), static_cast<T>(share),
                pushed.gradient.template data_ptr<T>(), pushed.closed.template data_ptr<T>());
  });
  return pushed;
}

void lift_at(const Tensor& maps, const Cones& cones, const MapPush& push, Pushed& pushed) {
  const auto x = laid_out(maps, maps);
  const LaidOutCones templates(cones, maps);
  const LaidOutPush laid(push, maps);
  over_maps(x, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.lift(batch, range, read<T>(x), laid.template at<T>(templates, laid.strongest),
                pushed.gradient.template data_ptr<T>(), pushed.closed.template data_ptr<T>());
  });
}

int64_t filters_in_cache(const Tensor& maps) {
  const auto batch = batch_of(maps);
  const auto of_one = 2 * batch.images * batch.cells() * static_cast<int64_t>(maps.element_size());
  const auto cache = bytes_of_second_cache();
  const auto some = std::min(cache / 4 / std::max<int64_t>(of_one, 1), kMostPushed);
  return cache < kDeepCache || some < kFewestPushed ? 0 : some;
}

Pushed push_by_filter(const Tensor& maps,
                      const Tensor& gradient,
                      const Tensor& peaks,
                      const Cones& cones,
                      double share,
                      const MapPush& push,
                      const std::function<double(double task, double push)>& factor_of,
                      Tensor& norms) {
  const LaidOutBackward in(maps, gradient, peaks, cones, push);
  Pushed pushed{like(in.x), per_map(in.x)};
  const Squares squares{per_map(in.x), per_map(in.x)};
  const auto filters = maps.size(1);
  auto* norm = norms.data_ptr<double>();
  const auto at_once = filters_in_cache(maps);
  const auto blocks = (filters + at_once - 1) / at_once;
  const auto grain = std::max<int64_t>(1, kMapsPerThread / (at_once * maps.size(0)));
  over_some(in.x, blocks, grain, [&](const auto& kernel, const auto& batch, auto some, auto zero) {
    using T = decltype(zero);
    const auto work = in.push<T>();
    auto* factors = push.factor.template data_ptr<T>();
    auto* task = squares.task.template data_ptr<T>();
    auto* own = squares.push.template data_ptr<T>();
    const auto norm_of = [&](const T* of_maps, int64_t filter) {
      double sum = 0.0;
      for (auto map = filter; map < batch.maps(); map += filters)
        sum += static_cast<double>(of_maps[map]);
      return std::sqrt(sum);
    };
    for (auto block = some.begin; block < some.end; ++block) {
      const auto begin = block * at_once;
      const auto end = std::min(begin + at_once, filters);
      const auto maps_of = [&](int64_t image) {
        return kernels::Range{image * filters + begin, image * filters + end};
      };
      for (int64_t image = 0; image < batch.images; ++image) {
        kernel.norms(batch, maps_of(image), read<T>(in.x), read<T>(in.g), work,
                     static_cast<T>(share), task, own);
      }
      for (auto filter = begin; filter < end; ++filter) {
        norm[filter] = norm_of(task, filter);
        norm[filters + filter] = norm_of(own, filter);
        factors[filter] = static_cast<T>(factor_of(norm[filter], norm[filters + filter]));
      }
      for (int64_t image = 0; image < batch.images; ++image) {
        kernel.push(batch, maps_of(image), read<T>(in.x), read<T>(in.g), work,
                    static_cast<T>(share), pushed.gradient.template data_ptr<T>(),
                    pushed.closed.template data_ptr<T>());
      }
    }
  });
  return pushed;
}

}  // namespace partwise::parts
