#pragma once

#include "partwise/formats/matlab.h"

namespace partwise::weights {

// A network as MatConvNet saves it, in the variables of a MATLAB file called `name`.
//
// simplenn (net.layers{i}.weights): arrays are called "<layer>.weight", "<layer>.bias" and
// "<layer>.moments". DagNN (net.params(i).name, .value): by their own names. Kernels, H x W x In x
// Out in MATLAB, become [out, in, kh, kw], fully connected layers too; row and column vectors
// become [n]; other matrices keep their MATLAB order of extents. MATLAB drops trailing extents of
// 1: a simplenn convolution gets them back, a DagNN parameter only from three extents on.
//
// Metadata: normalization.imageSize, .border, .averageImage and so on as numbers ("123.7 116.8
// 103.9"; of a whole average image the channel means), classes and class_descriptions as JSON
// lists.
formats::NamedArrays matconvnet_network(const formats::MatlabVariables& variables,
                                        const std::string& name);

}  // namespace partwise::weights
