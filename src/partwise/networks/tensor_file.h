#pragma once

#include "partwise/formats/arrays.h"
#include "partwise/tensors/tensor.h"

#include <filesystem>
#include <map>
#include <string>

namespace partwise::networks {

// Tensors as formats/safetensors.h keeps them in files.
struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Undefined where LibTorch has no such type.
at::ScalarType scalar_type_of(formats::Dtype dtype);

// Names, types, shapes and metadata; no bytes.
formats::NamedArrays header_of(const TensorFile& file);

// Written straight from the memory of tensors on the CPU; others are fetched one at a time.
void save_tensors(const std::filesystem::path& path, const TensorFile& file);

// Copies, not views of a mapped file: they are aligned, may be written to, and do not end the
// program when somebody shortens the file. The data is read straight into them, so it is in memory
// once. An Error names path and tensor.
TensorFile load_tensors(const std::filesystem::path& path);

}  // namespace partwise::networks
