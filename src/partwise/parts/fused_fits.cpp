#include "partwise/parts/fused_fits.h"

#include "partwise/kernels/fit_kernels.h"
#include "partwise/parts/laid_out.h"

#include <algorithm>
#include <cmath>

namespace partwise::parts {
namespace {

constexpr int64_t kFiltersPerThread = 8;
constexpr int64_t kFiltersAtOnce = 4;  // their fits stay in the second cache

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

// Those of the filters from `first` on.
template <class T>
T* fits_from(const Tensor& fits, int64_t first) {
  return fits.data_ptr<T>() + first * fits.size(1);
}

}  // namespace

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

}  // namespace partwise::parts
