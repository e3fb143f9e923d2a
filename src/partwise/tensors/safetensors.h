#pragma once

#include "partwise/tensors/tensor.h"

#include <filesystem>
#include <map>
#include <string>

namespace partwise::tensors {

// The contents of a .safetensors file: 8 bytes little-endian header length, a JSON header, raw
// data.
struct TensorFile {
  std::map<std::string, Tensor> tensors;  // on the CPU, contiguous
  std::map<std::string, std::string> metadata;
};

// Written atomically; the metadata gets a "content_hash" of the data section.
void save_tensors(const std::filesystem::path& path, const TensorFile& file);

// Every offset, shape and type is checked against the file's size, and the content hash where there
// is one; an Error names path and tensor.
TensorFile load_tensors(const std::filesystem::path& path);

}  // namespace partwise::tensors
