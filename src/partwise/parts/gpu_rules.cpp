#include "partwise/parts/gpu_rules.h"

#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/torch.h"

#include <cmath>

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

kernels::GpuLikelihood likelihood_of(const GpuAllFits& all) {
  kernels::GpuLikelihood work;
  work.images = all.maps.images;
  work.filters = all.maps.filters;
  work.cells = cells_of(all.maps);
  work.fits = floats(all.fits);
  work.inverse = floats(all.inverse);
  work.log_partition = floats(all.log_sums);
  return work;
}

}  // namespace

GpuAllFits all_fits_on_gpu(const kernels::GpuMaps& maps,
                           const kernels::GpuTemplates& templates,
                           const Tensor& scale,
                           const PartOptions& options) {
  const int cells = cells_of(maps);
  const double tau = 1.0 / (temperature_of(options) * cells);
  GpuAllFits all{maps, templates,
                 torch::empty({maps.images, cells + 1, maps.filters}, scale.options()),
                 options.exponent == Exponent::raw ? torch::full_like(scale, tau) : tau / scale,
                 torch::empty({cells + 1, maps.filters}, scale.options())};
  const auto& table = table_for(scale);
  auto* stream = tensors::stream_of(scale);
  table.all_fits({maps, templates, floats(all.fits)}, stream);
  auto work = likelihood_of(all);
  work.log_sums = floats(all.log_sums);
  table.log_sums(work, stream);
  return all;
}

Tensor mean_loss_on_gpu(const GpuAllFits& all) {
  const auto terms = torch::empty({3, all.maps.images, all.maps.filters}, all.fits.options());
  auto work = likelihood_of(all);
  work.terms = floats(terms);
  table_for(all.fits).loss_terms(work, tensors::stream_of(all.fits));
  const auto means = terms.sum({1, 2}, false, torch::kFloat64) / all.maps.filters;
  const auto prior =
      torch::full({1}, std::log(static_cast<double>(work.cells + 1)), means.options());
  return torch::cat({-means.slice(0, 0, 1), prior, means.slice(0, 1, 3)});
}

}  // namespace partwise::parts
