#pragma once

#include "partwise/weights/dtype.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace partwise::weights {

// A dense row-major array of little-endian numbers. `bytes` may lie in a mapped file and need not
// be aligned; `owner` keeps them alive, so a copy of an Array costs nothing. Without an owner the
// bytes are the caller's (a tensor's, say) and must outlive the Array.
struct Array {
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape;
  std::string_view bytes;
  std::shared_ptr<const void> owner;

  [[nodiscard]] std::size_t count() const { return bytes.size() / size_of(dtype); }
};

// An array that owns its bytes; their number must fit the shape.
Array make_array(Dtype dtype, std::vector<int64_t> shape, std::string bytes);

// What a weights file holds. All names and texts are valid UTF-8.
struct NamedArrays {
  std::string format;  // "safetensors", "PyTorch", "MatConvNet simplenn", "MatConvNet DagNN"
  std::map<std::string, Array> arrays;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> skipped;  // what the file holds besides, one line each
};

}  // namespace partwise::weights
