#include "partwise/formats/arrays.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <array>
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

}  // namespace partwise::formats
