#pragma once

#include "partwise/networks/network.h"

namespace partwise::networks {

// Weights from elsewhere give features of any scale; new layers and the learning rate expect about
// one. The root mean square of the first tapped layer's maps over `images`.
double feature_scale(const Network& network, const Tensor& images);

// Multiplies these maps by `factor` > 0 through the last weights before them: ReLU, pooling,
// dropout and concatenation let a positive factor pass, so the network computes the same features
// in another unit. False, and nothing changed, where a skip connection lies between.
bool scale_features(Network& network, double factor);

}  // namespace partwise::networks
