#pragma once

#include "partwise/interpretable.h"
#include "partwise/tensors/tensor.h"
#include "partwise/tensors/torch_library.h"

#include <string>
#include <tuple>
#include <vector>

namespace partwise::operators {

using Buffers = c10::Dict<std::string, Tensor>;
using Numbers = c10::Dict<std::string, double>;

// partwise::Interpretable as Python holds it: torch.classes.partwise.Interpretable. Whatever is
// wrong is an Error, in Python a RuntimeError of the same words.
class LayerClass : public torch::CustomClassHolder {
 public:
  // options: a JSON object of the program's names and words, e.g. {"method": "paper", "beta": 3}.
  LayerClass(int64_t filters, int64_t side, int64_t categories, const std::string& options);

  Tensor mask(const Tensor& maps) const;  // what eval() does
  // What train() does: masks, learns, and adds the filter gradient in the backward pass.
  Tensor forward(const Tensor& maps, const Tensor& labels, const std::vector<Tensor>& before_relu);

  Tensor filter_category() const;
  Tensor filter_beta() const;
  void set_strength_factor(double factor);
  void set_mask_share(double share);
  void set_category_shares(const std::vector<double>& shares);

  Buffers buffers() const;  // the layer's own tensors: who writes into them writes into the layer
  Numbers take_diagnostics();
  std::string options() const;   // all of them, as JSON
  std::string describe() const;  // one line

  // Everything, for pickle and copies.
  using State = std::tuple<int64_t,
                           int64_t,
                           int64_t,
                           std::string,
                           double,
                           double,
                           std::vector<double>,
                           Buffers,
                           Tensor>;
  State state() const;
  static c10::intrusive_ptr<LayerClass> from_state(const State& state);

 private:
  Interpretable layer_;
  double strength_factor_ = 1.0;
  double mask_share_ = 1.0;
  std::vector<double> category_shares_;  // none: not set
};

}  // namespace partwise::operators
