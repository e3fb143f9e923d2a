#pragma once

#include "partwise/networks/backbones.h"
#include "partwise/networks/layers.h"
#include "partwise/parts/part_option_fields.h"

#include <string>
#include <vector>

namespace partwise::networks {

// The four arms of every experiment. All share the backbone and the new fully connected layers.
enum class Arm {
  ordinary,        // backbone + new fully connected layers
  ordinary_layer,  // "ordinary+layer": + an ordinary conv-layer
  masked,          // + both masks, no filter loss
  interpretable,   // + both masks and the filter loss
};

constexpr bool has_filter_loss(Arm arm) {
  return arm == Arm::interpretable;
}

// A layer whose maps are of interest: where they are ready (after ReLU) and, where there is one,
// the interpretable layer, which may lie behind a pooling layer: the masked maps are then smaller.
struct Tap {
  std::string name;  // of the convolution, or of the module the maps come out of
  std::string role;  // in words, for reports
  int64_t relu = 0;  // index into layers
  int64_t interpretable = -1;
};

struct Architecture {
  std::string net;
  int64_t input_side = 0;
  std::vector<Layer> layers;
  std::vector<Tap> taps;  // the backbone's top layer first, then the new layer
};

const std::vector<std::string>& network_names();
Backbone find_backbone(const std::string& net);  // an unknown net lists the valid ones

// What of the fully connected layers is not as the net has it.
struct HeadOptions {
  int64_t hidden = 0;     // their width; 0: the net's own
  double dropout = -1.0;  // share of their units dropped in training; negative: the net's own
};

// The network of one arm with `outputs` outputs. Of `parts` only what decides where masks are,
// layers and mask_place, and new_kernel. In a residual net skip connections mix the filters of the
// trunk: there only the new layer is masked.
Architecture build_architecture(const std::string& net,
                                Arm arm,
                                int64_t outputs,
                                const parts::PartOptions& parts = {},
                                const HeadOptions& head = {});

}  // namespace partwise::networks

template <>
inline constexpr auto partwise::kWords<partwise::networks::Arm> =
    partwise::words("ordinary", "ordinary+layer", "masked", "interpretable");
