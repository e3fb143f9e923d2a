#pragma once

#include "partwise/formats/arrays.h"

namespace partwise::formats {

// Part of a storage: number (i, j, ...) of the array is number offset + i*strides[0] +
// j*strides[1] + ... of the storage.
struct Strided {
  Dtype dtype = Dtype::f32;
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

// The part as a dense array; it points into the storage where the part is dense already, so only
// other parts cost memory. An Error that begins with `place` when it reaches outside the storage.
Array dense(const Strided& part,
            std::string_view storage,
            const std::shared_ptr<const void>& owner,
            const std::string& place);

}  // namespace partwise::formats
