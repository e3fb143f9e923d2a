#include "partwise/weights/named_arrays.h"

#include "partwise/base/error.h"

namespace partwise::weights {

Array make_array(Dtype dtype, std::vector<int64_t> shape, std::string bytes) {
  const auto needed = byte_count(dtype, shape);
  expects(needed && *needed == bytes.size(), "{} bytes do not fill an array {}", bytes.size(),
          shape_text(shape));
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {dtype, std::move(shape), *owner, owner};
}

}  // namespace partwise::weights
