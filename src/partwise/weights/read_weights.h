#pragma once

#include "partwise/base/files.h"
#include "partwise/formats/arrays.h"

namespace partwise::weights {

// A file of named arrays, whoever made it: safetensors, PyTorch's .pth, MatConvNet's .mat. What it
// is, its first bytes say; the name's ending is not looked at. Nothing in the file is ever run.
formats::NamedArrays read_weights(const std::filesystem::path& path);

// The same for a file in memory; MATLAB 7.3 needs a real file and is not recognised here.
formats::NamedArrays parse_weights(const FileBytes& file);

}  // namespace partwise::weights
