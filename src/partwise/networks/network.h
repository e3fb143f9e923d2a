#pragma once

#include "partwise/networks/catalog.h"
#include "partwise/networks/together.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace partwise {
class InterpretableImpl;  // partwise/interpretable.h
}

namespace partwise::networks {

// partwise::Interpretable, by the name of its place in the list of layers.
using InterpretableLayers = std::map<std::string, std::shared_ptr<InterpretableImpl>>;

// What one tapped layer did: maps after ReLU and before the mask, and after it (the same where
// there is none).  [batch, filter, n, n]
struct TappedMaps {
  Tensor maps;
  Tensor masked;
};

struct Output {
  Tensor logits;                 // [batch, outputs]
  std::vector<TappedMaps> taps;  // in the order of Architecture::taps
  Tensor features;               // [batch, filter, k, k]: what the fully connected layers are given
};

// An architecture with its parameters and interpretable layers.
class Network {
 public:
  // Parameters are drawn by name from `seed`: two arms of one seed start from the same common
  // weights.
  Network(Architecture architecture,
          int64_t categories,
          const parts::PartOptions& options,
          uint64_t seed);

  // Without dropout and with frozen statistics; gradients flow unless the caller forbids them.
  //   images [batch, 3, side, side], normalised
  Output evaluate(const Tensor& images) const;
  // One layer of it, given its inputs.
  Tensor evaluate_layer(int64_t layer, const std::vector<Tensor>& inputs) const;
  // As evaluate, with dropout and the filter loss.  category [batch] int64, -1: none
  // With several ranks the images are this rank's share of the batch and `category` is the whole
  // batch's; batch norm and the filter loss then see the whole batch, and on the CPU dropout drops
  // what one process would. On a GPU maps that only a mask or a pooling reads are never written:
  // their taps stay empty.
  Output train(const Tensor& images, const Tensor& category);

  // For a step that failed: the first thing on the way through the network, in words, that is not
  // finite ("the weight of conv2", "the output of relu2"); empty where everything is. As train, it
  // moves the statistics on.
  std::string first_non_finite(const Tensor& images, const Tensor& category);

  const Architecture& architecture() const { return architecture_; }
  const std::vector<Geometry>& geometry() const { return geometry_; }
  // Of every layer, the indices of those it takes its input from; -1: the image.
  const std::vector<std::vector<int64_t>>& inputs() const { return inputs_; }
  std::map<std::string, Tensor>& parameters() { return parameters_; }
  const std::map<std::string, Tensor>& parameters() const { return parameters_; }
  const InterpretableLayers& interpretable() const { return interpretable_; }

  // Parameters, batch-norm statistics and the interpretable layers' statistics, by name.
  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor>& state);
  // Only the backbone's part of it (everything up to the first tap), for starting from weights
  // trained elsewhere; tensors of other layers are passed over, missing or misshaped ones are
  // named.
  void load_backbone(const std::map<std::string, Tensor>& state);
  void to_device(const std::string& device);
  void to_type(at::ScalarType type);  // float32 unless float64 is asked for
  void set_ranks(const tensors::Ranks& ranks);

  // In the order of the layers.
  std::vector<Tensor> parameters_in_order() const;

 private:
  // From these by name: the tensors of one layer, or all (layer empty).
  void copy_tensors(const std::map<std::string, Tensor>& from, const std::string& layer);
  Tensor plain_step(const Layer& layer, const std::vector<Tensor>& inputs) const;
  Tensor convolve(const Layer& layer, const Tensor& input, bool with_bias) const;
  Output train_on_gpu(const Tensor& images, const Tensor& category);
  //   before: what the ReLUs in front of an interpretable layer were given (before_relu_)
  Tensor training_step(std::size_t layer,
                       const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& before,
                       const Tensor& category) const;

  Architecture architecture_;
  tensors::Ranks ranks_;
  std::vector<std::vector<int64_t>> inputs_;  // of every layer, by index
  std::vector<Geometry> geometry_;
  std::vector<std::vector<int64_t>> before_relu_;  // of interpretable layers; else empty
  std::vector<Together> together_;                 // of every layer, on a GPU
  std::map<std::string, Tensor> parameters_;
  std::map<std::string, Tensor> statistics_;  // batch norm's running mean and variance
  InterpretableLayers interpretable_;
};

}  // namespace partwise::networks
