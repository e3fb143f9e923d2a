#pragma once

#include "partwise/metrics/activations.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/tensor.h"
#include "partwise/training/examples.h"

#include <string>
#include <vector>

namespace partwise::dissection {

// One tapped layer over all rows, on the CPU, float32.
struct LayerActivations {
  std::string name;
  std::string role;
  metrics::UnitGrid grid;         // of maps
  metrics::UnitGrid masked_grid;  // of masked: another where the mask lies behind pooling
  Tensor maps;                    // [rows, filters, n, n], after ReLU, before the mask
  Tensor masked;                  // the same tensor where the layer has no mask

  metrics::Maps view_maps() const;
  metrics::Maps view_masked() const;
};

struct Activations {
  Tensor logits;  // [rows, outputs]
  std::vector<LayerActivations> layers;
};

// The network's maps over the examples.
Activations collect_activations(const networks::Network& network,
                                const training::Examples& examples,
                                const std::string& device);

// sum_ij x_ij of every map, per tapped layer: [rows, filters]. What the category of a filter is
// decided from, without keeping the maps.
std::vector<Tensor> collect_map_sums(const networks::Network& network,
                                     const training::Examples& examples,
                                     const std::string& device);

}  // namespace partwise::dissection
