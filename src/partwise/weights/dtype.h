#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace partwise::weights {

enum class Dtype {
  f64,
  f32,
  f16,
  bf16,
  f8_e5m2,
  f8_e4m3,  // the variant without infinities, as PyTorch's float8_e4m3fn
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
};

// As safetensors spells them: "F32", "BF16", "I64", "BOOL", ...
std::string_view name_of(Dtype dtype);
std::optional<Dtype> dtype_named(std::string_view name);

std::size_t size_of(Dtype dtype);  // bytes of one number
bool is_floating(Dtype dtype);

// Bytes of a dense array; nothing when an extent is negative or the product does not fit.
std::optional<std::size_t> byte_count(Dtype dtype, std::span<const int64_t> shape);

std::string shape_text(std::span<const int64_t> shape);  // "[64, 3, 3, 3]"

}  // namespace partwise::weights
