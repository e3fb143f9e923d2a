// What torch.ops.load_library("libpartwise_torch.so") adds to Python's torch. python/partwise.py
// says what each is for.
#include "partwise/base/error.h"
#include "partwise/measure.h"
#include "partwise/operators/layer_class.h"
#include "partwise/parts/mask.h"
#include "partwise/tensors/torch.h"

namespace partwise::operators {
namespace {

void check_are_maps(const char* who, const Tensor& maps) {
  ensure(maps.dim() == 4 && maps.size(2) == maps.size(3) && maps.is_floating_point(),
         "partwise::{}: maps are {} of shape {}; expected numbers of shape [batch, filter, n, n]",
         who, c10::toString(maps.scalar_type()), c10::str(maps.sizes()));
}

Tensor peak_cells(const Tensor& maps, bool centroid) {
  check_are_maps("peak_cells", maps);
  parts::PartOptions options;
  options.peak = centroid ? parts::Peak::centroid : parts::Peak::argmax;
  return parts::peak_cells(maps, options);
}

Tensor mask(const Tensor& maps, double beta, bool centroid, bool round) {
  check_are_maps("mask", maps);
  parts::PartOptions options;
  options.beta = beta;
  options.peak = centroid ? parts::Peak::centroid : parts::Peak::argmax;
  options.template_shape = round ? parts::TemplateShape::l2 : parts::TemplateShape::l1;
  Interpretable layer(maps.size(1), maps.size(2), /*categories=*/1, options);
  layer->to(maps.device());
  if (maps.scalar_type() == torch::kFloat64) layer->to(torch::kFloat64);
  return layer->mask(maps);
}

Numbers numbers_of(const measure::Finding& finding) {
  Numbers numbers;
  numbers.insert("value", finding.value);
  numbers.insert("low", finding.low);
  numbers.insert("high", finding.high);
  for (const auto& [name, value] : finding.controls) numbers.insert(name, value);
  return numbers;
}

Numbers purity(const Tensor& maps, int64_t resamples, int64_t seed) {
  return numbers_of(measure::purity(maps, {resamples, seed}));
}

std::tuple<Numbers, Tensor, Tensor> part_interpretability(const Tensor& maps,
                                                          double offset,
                                                          double stride,
                                                          int64_t input_side,
                                                          const Tensor& parts,
                                                          const Tensor& labels,
                                                          const Tensor& filter_category,
                                                          int64_t resamples,
                                                          int64_t seed) {
  const auto found = measure::part_interpretability(maps, {offset, stride, input_side}, parts,
                                                    labels, filter_category, {resamples, seed});
  return {numbers_of(found.finding), found.filters, found.best_part};
}

TORCH_LIBRARY(partwise, library) {
  library.class_<LayerClass>("Interpretable")
      .def(torch::init<int64_t, int64_t, int64_t, std::string>())
      .def("forward", &LayerClass::forward)
      .def("mask", &LayerClass::mask)
      .def("filter_category", &LayerClass::filter_category)
      .def("filter_beta", &LayerClass::filter_beta)
      .def("set_strength_factor", &LayerClass::set_strength_factor)
      .def("set_mask_share", &LayerClass::set_mask_share)
      .def("set_category_shares", &LayerClass::set_category_shares)
      .def("buffers", &LayerClass::buffers)
      .def("take_diagnostics", &LayerClass::take_diagnostics)
      .def("options", &LayerClass::options)
      .def("describe", &LayerClass::describe)
      .def_pickle([](const c10::intrusive_ptr<LayerClass>& self) { return self->state(); },
                  [](LayerClass::State state) { return LayerClass::from_state(state); });
  library.def("peak_cells(Tensor maps, bool centroid=False) -> Tensor", peak_cells);
  library.def("mask(Tensor maps, float beta=4.0, bool centroid=False, bool round=False) -> Tensor",
              mask);
  library.def("purity(Tensor maps, int resamples=1000, int seed=1) -> Dict(str, float)", purity);
  library.def("filter_categories(Tensor maps, Tensor labels, int categories) -> Tensor",
              measure::filter_categories);
  library.def(
      "part_interpretability(Tensor maps, float offset, float stride, int input_side, "
      "Tensor parts, Tensor labels, Tensor filter_category, int resamples=1000, int seed=1) "
      "-> (Dict(str, float), Tensor, Tensor)",
      part_interpretability);
}

}  // namespace
}  // namespace partwise::operators
