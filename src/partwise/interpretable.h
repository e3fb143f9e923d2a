#pragma once

#include "partwise/parts/interpretable_layer.h"

#include <torch/torch.h>

#include <string>

namespace partwise {

// The interpretable layer of the paper for a network of your own: put it behind the ReLU of any
// convolution.
//
//   partwise::Interpretable parts(256, 14, 20);               // filters, map side, categories
//   auto y = parts(torch::relu(conv(x)), labels);              // in training: mask, and filter
//   loss auto y = parts(torch::relu(conv(x)));                      // labels are not needed in
//   eval()
//
// The filter loss acts in the backward pass of your task loss; nothing is to be added to it. labels
// [batch] int64: 0 .. categories - 1, or -1 for an image of none (a binary task: 0 and -1, one
// category). The loss's statistics travel with the module: to(device), torch::save, torch::load.
class InterpretableImpl : public torch::nn::Module {
 public:
  InterpretableImpl(int64_t filters,
                    int64_t side,
                    int64_t categories,
                    const parts::PartOptions& options = {})
      : layer_(filters, side, categories, options) {}

  torch::Tensor forward(const torch::Tensor& maps, const torch::Tensor& labels = {}) {
    if (!is_training()) return layer_.mask(maps);
    TORCH_CHECK(labels.defined(), "Interpretable: training needs labels; eval() does not");
    return layer_.mask_and_learn(maps, labels);
  }

  // Everything else there is to ask: filter_category(), take_diagnostics(), set_strength_factor().
  parts::InterpretableLayer& layer() { return layer_; }

  void to(torch::Device device, torch::Dtype, bool) override { layer_.to_device(device.str()); }
  void to(torch::Device device, bool) override { layer_.to_device(device.str()); }
  void to(torch::Dtype, bool) override {}  // the statistics stay float32

  void save(torch::serialize::OutputArchive& archive) const override {
    for (const auto& [name, tensor] : layer_.state()) archive.write(name, tensor, true);
  }
  void load(torch::serialize::InputArchive& archive) override {
    auto state = layer_.state();
    for (auto& [name, tensor] : state) {
      torch::Tensor found;
      archive.read(name, found, true);
      tensor = found;
    }
    layer_.load_state(state);
  }

 private:
  parts::InterpretableLayer layer_;
};
TORCH_MODULE(Interpretable);

}  // namespace partwise
