#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partwise::formats {

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

// What a weights file holds. All names and texts are valid UTF-8.
struct NamedArrays {
  std::string format;  // "safetensors", "PyTorch", "MatConvNet simplenn", "MatConvNet DagNN"
  std::map<std::string, Array> arrays;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> skipped;  // what the file holds besides, one line each
};

}  // namespace partwise::formats
