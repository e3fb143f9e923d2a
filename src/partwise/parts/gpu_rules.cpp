#include "partwise/parts/gpu_rules.h"

#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/torch.h"

#include <cmath>
#include <limits>

namespace partwise::parts {
namespace {

float* floats(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

const kernels::GpuKernels& table_for(const Tensor& tensor) {
  return *kernels::gpu_kernels(tensors::gpu_of(tensor));
}

int cells_of(const kernels::GpuMaps& maps) {
  return maps.side * maps.side;
}

kernels::GpuLikelihood gpu_likelihood(const GpuAllFits& all) {
  kernels::GpuLikelihood work;
  work.images = all.maps.images;
  work.filters = all.maps.filters;
  work.cells = cells_of(all.maps);
  work.fits = floats(all.fits);
  work.inverse = floats(all.inverse);
  work.log_partition = floats(all.log_sums);
  return work;
}

// Z of every template, and of every map p(x).
void gpu_partition(const GpuAllFits& all,
                   Memory& memory,
                   const PartOptions& options,
                   kernels::GpuLikelihood& work,
                   GpuRuleNumbers& found) {
  found.log_partition = all.log_sums;
  work.most = std::numeric_limits<float>::infinity();
  if (options.rule != Rule::exact) {
    const auto images = static_cast<double>(all.images);
    memory.see_fits(all.log_sums.t() - std::log(images));
    found.log_partition = memory.log_mean_fits().t().contiguous();
    // Z holds this batch with weight 1 - memory, hence the bound; only rounding can exceed it.
    work.most = static_cast<float>(std::log(images / (1.0 - options.partition_memory)));
  }
  work.log_partition = floats(found.log_partition);
  if (options.rule != Rule::exact && options.marginal == Marginal::uniform) return;
  found.log_marginals = torch::empty({work.images, work.filters}, all.fits.options());
  work.log_marginals = floats(found.log_marginals);
  table_for(all.fits).log_marginals(work, tensors::stream_of(all.fits));
  // p(mu) is the same for all, mu^- included
  found.log_marginals.sub_(std::log(static_cast<double>(work.cells + 1)));
}

// What a unit of strength makes of dLoss_f/dx of each filter, times p(mu) tau dx^/dx.
Tensor factor_of(const GpuAllFits& all, const Tensor& mean_all, const PartOptions& options) {
  const double images = options.rule == Rule::exact ? 1.0 : all.images;
  const auto common = all.inverse / (static_cast<double>(cells_of(all.maps) + 1) * images);
  switch (options.strength_unit) {
    case StrengthUnit::filter_share:
    case StrengthUnit::layer_share:
      return common * all.scale.square();
    case StrengthUnit::peak:
      return common * mean_all;
    case StrengthUnit::absolute:
      break;
  }
  return common;
}

}  // namespace

GpuAllFits all_fits_on_gpu(const kernels::GpuMaps& maps,
                           const kernels::GpuTemplates& templates,
                           const tensors::Ranks& ranks,
                           int images,
                           const Tensor& scale,
                           const Tensor& inverse,
                           const float* since) {
  const int cells = cells_of(maps);
  const auto empty = [&](at::IntArrayRef shape) { return torch::empty(shape, scale.options()); };
  GpuAllFits all;
  all.maps = maps;
  all.ranks = ranks;
  all.images = images;
  all.templates = templates;
  all.scale = scale;
  all.fits = empty({maps.images, cells + 1, maps.filters});
  all.inverse = inverse;
  all.log_sums = empty({cells + 1, maps.filters});
  const auto& table = table_for(scale);
  auto* stream = tensors::stream_of(scale);
  table.all_fits({maps, templates, floats(all.fits), since}, stream);
  auto work = gpu_likelihood(all);
  work.log_sums = floats(all.log_sums);
  work.since = since;
  table.log_sums(work, stream);
  all.log_sums = ranks.logsumexp(all.log_sums).contiguous();
  return all;
}

void watch_on_gpu(const GpuAllFits& all, const GpuWatching& watching) {
  const auto terms = torch::empty({3, all.maps.images, all.maps.filters}, all.fits.options());
  const auto& table = table_for(all.fits);
  auto* stream = tensors::stream_of(all.fits);
  auto work = gpu_likelihood(all);
  work.terms = floats(terms);
  work.since = floats(watching.since);
  table.loss_terms(work, stream);
  kernels::GpuWatch watch;
  watch.images = work.images;
  watch.filters = work.filters;
  watch.cells = work.cells;
  watch.terms = work.terms;
  watch.sums = watching.sums.data_ptr<double>();
  watch.since = floats(watching.since);
  watch.every = static_cast<float>(watching.every);
  table.watch(watch, stream);
}

Tensor mean_loss_on_gpu(const GpuAllFits& all) {
  const auto terms = torch::empty({3, all.maps.images, all.maps.filters}, all.fits.options());
  auto work = gpu_likelihood(all);
  work.terms = floats(terms);
  table_for(all.fits).loss_terms(work, tensors::stream_of(all.fits));
  const auto means = all.ranks.sum(terms.sum({1, 2}, false, torch::kFloat64)) / all.maps.filters;
  const auto prior =
      torch::full({1}, std::log(static_cast<double>(work.cells + 1)), means.options());
  return torch::cat({-means.slice(0, 0, 1), prior, means.slice(0, 1, 3)});
}

GpuRuleNumbers apply_rule_on_gpu(const GpuAllFits& all,
                                 const Tensor& mean_all,
                                 Memory& memory,
                                 const PartOptions& options,
                                 kernels::GpuWeigh& weigh) {
  const auto& table = table_for(all.fits);
  auto* stream = tensors::stream_of(all.fits);
  auto work = gpu_likelihood(all);
  GpuRuleNumbers found;
  gpu_partition(all, memory, options, work, found);
  const auto of_all = [&](const Tensor& own) {
    return own.defined() ? all.ranks.rows_of_all(own, all.images).contiguous() : own;
  };
  if (options.rule == Rule::paper) {
    found.log_marginals = of_all(found.log_marginals);
    weigh.rule = kernels::GpuRule::paper;
    weigh.log_partition = work.log_partition;
    weigh.log_marginals = floats(found.log_marginals);
    weigh.most = work.most;
    return found;
  }
  const bool exact = options.rule == Rule::exact;
  const auto type = all.fits.options();
  Tensor gains;
  if (exact) {
    gains = torch::empty_like(found.log_partition);
    work.gain_sums = floats(gains);
    table.gain_sums(work, stream);
    gains = all.ranks.sum(gains).contiguous();
  }
  const auto factor = factor_of(all, mean_all, options);
  found.dense = torch::empty({work.images, all.maps.side, all.maps.side, work.filters}, type);
  found.sizes = torch::empty({work.images, work.filters}, type);
  found.along = torch::empty_like(found.sizes);
  kernels::GpuMixture mixture;
  mixture.maps = all.maps;
  mixture.templates = all.templates;
  mixture.fits = work.fits;
  mixture.inverse = work.inverse;
  mixture.log_partition = work.log_partition;
  mixture.most = work.most;
  mixture.log_marginals = work.log_marginals;
  mixture.gains = floats(gains);
  mixture.ignore_misfits = !exact && options.misfits == Misfits::ignored;
  mixture.factor = floats(factor);
  mixture.dense = floats(found.dense);
  mixture.sizes = floats(found.sizes);
  mixture.along = floats(found.along);
  table.mix(mixture, stream);
  weigh.rule = kernels::GpuRule::mixed;
  found.sizes = of_all(found.sizes);
  found.along = of_all(found.along);
  weigh.sizes = floats(found.sizes);
  weigh.along = floats(found.along);
  return found;
}

}  // namespace partwise::parts
