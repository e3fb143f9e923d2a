#include "partwise/operators/layer_class.h"

#include "partwise/base/error.h"
#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/torch.h"

#include <sstream>

namespace partwise::operators {
namespace {

parts::PartOptions options_from(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  ensure(!json.is_discarded(), "Interpretable: its options are not valid JSON: {}", text);
  return parts::part_options_from(json, "Interpretable");
}

}  // namespace

LayerClass::LayerClass(int64_t filters,
                       int64_t side,
                       int64_t categories,
                       const std::string& options)
    : layer_(filters, side, categories, options_from(options)) {}

Tensor LayerClass::mask(const Tensor& maps) const {
  return layer_->mask(maps);
}

Tensor LayerClass::forward(const Tensor& maps,
                           const Tensor& labels,
                           const std::vector<Tensor>& before_relu) {
  return layer_->forward(maps, labels, before_relu);
}

Tensor LayerClass::filter_category() const {
  return layer_->filter_category();
}

Tensor LayerClass::filter_beta() const {
  return layer_->filter_beta();
}

void LayerClass::set_strength_factor(double factor) {
  strength_factor_ = factor;
  layer_->set_strength_factor(factor);
}

void LayerClass::set_mask_share(double share) {
  mask_share_ = share;
  layer_->set_mask_share(share);
}

void LayerClass::set_category_shares(const std::vector<double>& shares) {
  layer_->set_category_shares(shares);
  category_shares_ = shares;
}

Buffers LayerClass::buffers() const {
  Buffers buffers;
  for (const auto& buffer : layer_->named_buffers()) buffers.insert(buffer.key(), buffer.value());
  return buffers;
}

Numbers LayerClass::take_diagnostics() {
  const auto seen = layer_->take_diagnostics();
  Numbers numbers;
  numbers.insert("loss", seen.loss);
  numbers.insert("prior_entropy", seen.prior_entropy);
  numbers.insert("category_entropy", seen.category_entropy);
  numbers.insert("spatial_entropy", seen.spatial_entropy);
  numbers.insert("gradient_ratio", seen.gradient_ratio);
  numbers.insert("effective_samples", seen.effective_samples);
  numbers.insert("softening", seen.softening);
  numbers.insert("vote", seen.vote);
  numbers.insert("mean_peak", seen.mean_peak);
  numbers.insert("dead_share", seen.dead_share);
  numbers.insert("silent_share", seen.silent_share);
  numbers.insert("effective_filters", seen.effective_filters);
  return numbers;
}

std::string LayerClass::options() const {
  return to_json(layer_->options()).dump();
}

std::string LayerClass::describe() const {
  std::ostringstream line;
  layer_->pretty_print(line);
  return line.str();
}

LayerClass::State LayerClass::state() const {
  return {layer_->filters(), layer_->side(),   layer_->categories(),
          options(),         strength_factor_, mask_share_,
          category_shares_,  buffers(),        layer_->diagnostic_sums()};
}

c10::intrusive_ptr<LayerClass> LayerClass::from_state(const State& state) {
  const auto& [filters, side, categories, options, factor, share, shares, buffers, sums] = state;
  auto made = c10::make_intrusive<LayerClass>(filters, side, categories, options);
  made->set_strength_factor(factor);
  made->set_mask_share(share);
  if (!shares.empty()) made->set_category_shares(shares);
  for (auto& own : made->layer_->named_buffers()) {
    ensure(buffers.contains(own.key()), "Interpretable: what was saved lacks '{}'", own.key());
    const auto saved = buffers.at(own.key());
    own.value().set_data(torch::empty_like(saved));
    own.value().copy_(saved);  // in place: the layer notices that it was written to
  }
  made->layer_->load_diagnostic_sums(sums);
  return made;
}

}  // namespace partwise::operators
