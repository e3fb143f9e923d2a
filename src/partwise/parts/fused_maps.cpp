#include "partwise/parts/fused_maps.h"

#include "partwise/kernels/fit_kernels.h"
#include "partwise/parts/mask.h"
#include "partwise/tensors/torch.h"
#include "partwise/tensors/torch_threads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unistd.h>
#include <utility>

namespace partwise::parts {
namespace {

thread_local bool composed = false;
thread_local int64_t second_cache = -1;  // bytes; -1: as the machine says

int64_t bytes_of_second_cache() {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  static const int64_t known = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
  static const int64_t known = 0;
#endif
  return second_cache >= 0 ? second_cache : known;
}

constexpr int64_t kMapsPerThread = 256;  // fewer are not worth another thread
constexpr int64_t kFiltersPerThread = 8;
constexpr int64_t kPairsAtOnce = 32;  // stay in the first cache between two passes
constexpr int64_t kFiltersAtOnce = 4;
constexpr int64_t kDeepCache = 2 << 20;  // bytes
constexpr int64_t kMostPushed = 8;       // filters; more bring nothing
constexpr int64_t kFewestPushed = 4;     // fewer read too little of an image in one piece

kernels::Batch batch_of(const Tensor& maps) {
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

// The maps of the first half; `work` does those of the second, too.
template <class Work>
void over_pairs(const Tensor& maps, const Work& work) {
  over_some(maps, (batch_of(maps).maps() + 1) / 2, kMapsPerThread / 2, work);
}

// Work on the filters of a batch.
template <class Work>
void over_filters(const Tensor& maps, const Work& work) {
  const auto batch = batch_of(maps);
  const auto run = [&](auto zero) {
    const auto& table = kernels::fit_kernels<decltype(zero)>();
    tensors::in_parallel(batch.filters, kFiltersPerThread, [&](int64_t begin, int64_t end) {
      work(table, batch, kernels::Range{begin, end}, zero);
    });
  };
  if (maps.scalar_type() == torch::kFloat64) {
    run(double{});
  } else {
    run(float{});
  }
}

// All that the kernels read must be of the maps' type and lie in one piece.
Tensor laid_out(const Tensor& tensor, const Tensor& maps) {
  const bool as_it_is =
      !tensor.defined() || (tensor.scalar_type() == maps.scalar_type() && tensor.is_contiguous());
  return as_it_is ? tensor : tensor.detach().to(maps.scalar_type()).contiguous();
}

Tensor per_map(const Tensor& maps, at::ScalarType type) {
  return torch::empty({maps.size(0), maps.size(1)},
                      maps.options().dtype(type).requires_grad(false));
}

Tensor per_map(const Tensor& maps) {
  return per_map(maps, maps.scalar_type());
}

Tensor like(const Tensor& maps) {
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

// What the fits to all templates are made of.
struct LaidOutFits {
  LaidOutFits(const Tensor& maps, const Cones& cones, TemplateShape shape)
      : x(laid_out(maps, maps)),
        templates(cones, maps),
        distances(shape == TemplateShape::l1 ? Tensor() : templates.distances) {}

  // [filters, the fits of one]
  Tensor empty(int64_t filters) const {
    const auto batch = batch_of(x);
    const auto lanes = x.scalar_type() == torch::kFloat64 ? kernels::fit_kernels<double>().lanes
                                                          : kernels::fit_kernels<float>().lanes;
    return torch::empty({filters, kernels::fits_per_filter(batch, lanes)}, x.options());
  }

  Tensor x;
  LaidOutCones templates;
  Tensor distances;
};

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

// Those of the filters from `first` on.
template <class T>
T* fits_from(const Tensor& fits, int64_t first) {
  return fits.data_ptr<T>() + first * fits.size(1);
}

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

ComposedOperators::ComposedOperators() : before_(std::exchange(composed, true)) {}

ComposedOperators::~ComposedOperators() {
  composed = before_;
}

SecondCache::SecondCache(int64_t bytes) : before_(std::exchange(second_cache, bytes)) {}

SecondCache::~SecondCache() {
  second_cache = before_;
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

Tensor all_fits(const Tensor& maps, const Cones& cones, TemplateShape shape) {
  const LaidOutFits in(maps, cones, shape);
  const auto fits = in.empty(maps.size(1));
  over_filters(maps, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.all_fits(batch, range, read<T>(in.x), read<T>(in.templates.slopes),
                    read<T>(in.distances), fits_from<T>(fits, range.begin));
  });
  return fits;
}

Tensor log_sums_of(const Tensor& maps, const Tensor& fits, const Tensor& inverse) {
  const auto factor = laid_out(inverse, maps);
  auto sums = torch::empty({maps.size(1), batch_of(maps).cells() + 1}, fits.options());
  over_filters(maps, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.log_sums(batch, range, fits_from<T>(fits, range.begin), read<T>(factor),
                    sums.template data_ptr<T>());
  });
  return sums;
}

Tensor log_marginals_of(const Tensor& maps,
                        const Tensor& fits,
                        const Tensor& inverse,
                        const Tensor& log_partition,
                        double most) {
  const auto factor = laid_out(inverse, maps);
  const auto partition = laid_out(log_partition, maps);
  auto marginals = per_map(fits.new_empty({maps.size(0), maps.size(1)}));
  over_filters(maps, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.log_marginals(batch, range, fits_from<T>(fits, range.begin), read<T>(factor),
                         read<T>(partition), static_cast<T>(most),
                         marginals.template data_ptr<T>());
  });
  return marginals;
}

Tensor gain_sums_of(const Tensor& maps,
                    const Tensor& fits,
                    const Tensor& inverse,
                    const Tensor& log_partition,
                    const Tensor& log_marginals) {
  auto sums = torch::empty_like(log_partition);
  over_filters(maps, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.gain_sums(batch, range, fits_from<T>(fits, range.begin), read<T>(inverse),
                     read<T>(log_partition), read<T>(log_marginals), sums.template data_ptr<T>());
  });
  return sums;
}

void weigh_templates(const Tensor& maps,
                     const Tensor& fits,
                     const Tensor& inverse,
                     const Tensor& log_partition,
                     double most,
                     const Tensor& log_marginals,
                     const Tensor& gains,
                     bool ignore_misfits) {
  over_filters(maps, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.weigh_templates(batch, range, fits_from<T>(fits, range.begin), read<T>(inverse),
                           read<T>(log_partition), static_cast<T>(most), read<T>(log_marginals),
                           read<T>(gains), ignore_misfits);
  });
}

Tensor mixture_of(const Tensor& maps,
                  const Tensor& weights,
                  const Cones& cones,
                  TemplateShape shape,
                  const Tensor& factor) {
  const LaidOutCones templates(cones, maps);
  auto mixture = like(maps);
  over_filters(maps, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.mix(batch, range, fits_from<T>(weights, range.begin), read<T>(templates.slopes),
               shape == TemplateShape::l1 ? nullptr : read<T>(templates.distances), read<T>(factor),
               mixture.template data_ptr<T>());
  });
  return mixture;
}

TemplateSums sum_templates(const Tensor& maps,
                           const Cones& cones,
                           TemplateShape shape,
                           const TemplateRule& rule) {
  const LaidOutFits in(maps, cones, shape);
  const auto inverse = laid_out(rule.inverse, maps);
  const auto factor = laid_out(rule.factor, maps);
  const TemplateSums sums{torch::empty({maps.size(1), batch_of(maps).cells() + 1}, in.x.options()),
                          rule.wants_marginals ? per_map(in.x) : Tensor(),
                          factor.defined() ? like(in.x) : Tensor()};
  const auto gains = rule.wants_gains ? torch::empty_like(sums.log_partition) : Tensor();
  over_filters(maps, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    const auto write = [](const Tensor& x) { return x.defined() ? x.data_ptr<T>() : nullptr; };
    const auto* slopes = read<T>(in.templates.slopes);
    const auto* distances = read<T>(in.distances);
    const auto most = static_cast<T>(rule.most);
    const auto fits = in.empty(std::min(kFiltersAtOnce, range.end - range.begin));
    auto* own = write(fits);
    for (auto begin = range.begin; begin < range.end; begin += kFiltersAtOnce) {
      const kernels::Range some{begin, std::min(begin + kFiltersAtOnce, range.end)};
      kernel.all_fits(batch, some, read<T>(in.x), slopes, distances, own);
      kernel.partition(batch, some, own, read<T>(inverse),
                       {write(rule.running.log_sum), rule.running.memory, rule.running.seen}, most,
                       write(sums.log_partition), write(sums.log_marginals));
      if (!factor.defined()) continue;
      if (gains.defined())
        kernel.gain_sums(batch, some, own, read<T>(inverse), read<T>(sums.log_partition),
                         read<T>(sums.log_marginals), write(gains));
      kernel.weigh_templates(batch, some, own, read<T>(inverse), read<T>(sums.log_partition), most,
                             read<T>(sums.log_marginals), read<T>(gains), rule.ignore_misfits);
      kernel.mix(batch, some, own, slopes, distances, read<T>(factor), write(sums.mixture));
    }
  });
  return sums;
}

FilterLoss loss_by_kernels(const Tensor& maps,
                           const Cones& cones,
                           TemplateShape shape,
                           const Tensor& inverse,
                           const tensors::Ranks& ranks) {
  const torch::NoGradGuard no_grad;
  const auto factor = laid_out(inverse, maps);
  const auto fits = all_fits(maps, cones, shape);
  const auto sums = ranks.logsumexp(log_sums_of(maps, fits, factor).unsqueeze(0)).contiguous();
  const auto number = [&] { return torch::empty({maps.size(0), maps.size(1)}, fits.options()); };
  auto information = number();
  auto category = number();
  auto spatial = number();
  over_filters(maps, [&](const auto& kernel, const auto& batch, auto range, auto zero) {
    using T = decltype(zero);
    kernel.loss_terms(batch, range, fits_from<T>(fits, range.begin), read<T>(factor), read<T>(sums),
                      information.template data_ptr<T>(), category.template data_ptr<T>(),
                      spatial.template data_ptr<T>());
  });
  const auto total =
      ranks.sum(torch::stack({-information, category, spatial}).sum(1, false, torch::kFloat64));
  const auto prior =
      torch::full({}, std::log(static_cast<double>(batch_of(maps).cells() + 1)), torch::kFloat64);
  return {total[0], prior.expand_as(total[0]), total[1], total[2]};
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
