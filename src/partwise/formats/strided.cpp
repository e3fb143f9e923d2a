#include "partwise/formats/strided.h"

#include "partwise/base/error.h"

#include <cstring>

namespace partwise::formats {
namespace {

bool is_dense(const Strided& part) {
  int64_t expected = 1;
  for (auto i = part.shape.size(); i-- > 0;) {
    if (part.shape[i] != 1 && part.strides[i] != expected) return false;
    expected *= part.shape[i];
  }
  return true;
}

// Whether no index into the storage is negative or above `limit`; extents are positive.
bool stays_within(const Strided& part, int64_t limit) {
  if (part.offset < 0 || part.offset > limit) return false;
  int64_t last = part.offset;
  for (std::size_t i = 0; i < part.shape.size(); ++i) {
    const int64_t steps = part.shape[i] - 1;
    if (steps == 0) continue;
    if (part.strides[i] < 0 || part.strides[i] > (limit - last) / steps) return false;
    last += steps * part.strides[i];
  }
  return true;
}

// The stride of a single row means nothing, and adding it could overflow.
std::vector<int64_t> steps_of(const Strided& part) {
  auto steps = part.strides;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (part.shape[i] == 1) steps[i] = 0;
  }
  return steps;
}

std::string gathered(const Strided& part, std::string_view storage, std::size_t bytes) {
  const auto steps = steps_of(part);
  const std::size_t size = size_of(part.dtype);
  std::string result(bytes, '\0');
  std::vector<int64_t> index(part.shape.size(), 0);
  int64_t source = part.offset;
  for (std::size_t target = 0; target < bytes; target += size) {
    std::memcpy(&result[target], storage.data() + static_cast<std::size_t>(source) * size, size);
    for (auto i = index.size(); i-- > 0;) {
      source += steps[i];
      if (++index[i] < part.shape[i]) break;
      source -= steps[i] * part.shape[i];
      index[i] = 0;
    }
  }
  return result;
}

}  // namespace

Array dense(const Strided& part,
            std::string_view storage,
            const std::shared_ptr<const void>& owner,
            const std::string& place) {
  expects(part.shape.size() == part.strides.size(), "{}: shape and strides differ in length",
          place);
  const auto bytes = byte_count(part.dtype, part.shape);
  ensure(bytes.has_value(), "{}: damaged: impossible shape {}", place, shape_text(part.shape));
  if (*bytes == 0) return {part.dtype, part.shape, {}, nullptr};
  const auto size = size_of(part.dtype);
  ensure(
      storage.size() >= size && stays_within(part, static_cast<int64_t>(storage.size() / size) - 1),
      "{}: damaged: {} with strides {} from {} reaches outside its {} bytes", place,
      shape_text(part.shape), shape_text(part.strides), part.offset, storage.size());
  if (is_dense(part)) {
    const auto begin = static_cast<std::size_t>(part.offset) * size;
    return {part.dtype, part.shape, storage.substr(begin, *bytes), owner};
  }
  return make_array(part.dtype, part.shape, gathered(part, storage, *bytes));
}

}  // namespace partwise::formats
