#pragma once

#include "partwise/base/files.h"
#include "partwise/formats/matlab.h"

namespace partwise::weights {

// A file of named arrays, whoever made it: safetensors, PyTorch's .pth, MatConvNet's .mat. What it
// is, its first bytes say; the name's ending is not looked at. Nothing in the file is ever run.
formats::NamedArrays read_weights(const std::filesystem::path& path);

// The same for a file in memory; MATLAB 7.3 needs a real file and is not recognised here.
formats::NamedArrays parse_weights(const FileBytes& file);

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
