#include "partwise/formats/arrays.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace partwise::formats {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name;
  std::size_t size;
  bool floating;
};

// In the order of the enumeration.
constexpr std::array kRows{
    Row{Dtype::f64, "F64", 8, true},         Row{Dtype::f32, "F32", 4, true},
    Row{Dtype::f16, "F16", 2, true},         Row{Dtype::bf16, "BF16", 2, true},
    Row{Dtype::f8_e5m2, "F8_E5M2", 1, true}, Row{Dtype::f8_e4m3, "F8_E4M3", 1, true},
    Row{Dtype::i64, "I64", 8, false},        Row{Dtype::i32, "I32", 4, false},
    Row{Dtype::i16, "I16", 2, false},        Row{Dtype::i8, "I8", 1, false},
    Row{Dtype::u64, "U64", 8, false},        Row{Dtype::u32, "U32", 4, false},
    Row{Dtype::u16, "U16", 2, false},        Row{Dtype::u8, "U8", 1, false},
    Row{Dtype::boolean, "BOOL", 1, false},
};

const Row& row_of(Dtype dtype) {
  return kRows.at(static_cast<std::size_t>(dtype));
}

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

std::string_view name_of(Dtype dtype) {
  return row_of(dtype).name;
}

std::optional<Dtype> dtype_named(std::string_view name) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(),
                                 [&](const Row& known) { return known.name == name; });
  if (row == kRows.end()) return std::nullopt;
  return row->dtype;
}

std::size_t size_of(Dtype dtype) {
  return row_of(dtype).size;
}

bool is_floating(Dtype dtype) {
  return row_of(dtype).floating;
}

std::optional<std::size_t> byte_count(Dtype dtype, std::span<const int64_t> shape) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int64_t>::max());
  std::size_t bytes = size_of(dtype);
  for (const int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    const auto factor = static_cast<std::size_t>(extent);
    if (factor != 0 && bytes > kMost / factor) return std::nullopt;
    bytes *= factor;
  }
  return bytes;
}

std::string shape_text(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

Array make_array(Dtype dtype, std::vector<int64_t> shape, std::string bytes) {
  const auto needed = byte_count(dtype, shape);
  expects(needed && *needed == bytes.size(), "{} bytes do not fill an array {}", bytes.size(),
          shape_text(shape));
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {dtype, std::move(shape), *owner, owner};
}

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
