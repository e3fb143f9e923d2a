#include "partwise/networks/tensor_file.h"

#include "partwise/base/error.h"
#include "partwise/base/printable.h"
#include "partwise/formats/safetensors.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <array>

namespace partwise::networks {
namespace {

using formats::Dtype;

struct Pair {
  Dtype ours;
  torch::Dtype torch;
};
constexpr std::array kPairs{
    Pair{Dtype::f64, torch::kFloat64}, Pair{Dtype::f32, torch::kFloat32},
    Pair{Dtype::f16, torch::kFloat16}, Pair{Dtype::bf16, torch::kBFloat16},
    Pair{Dtype::i64, torch::kInt64},   Pair{Dtype::i32, torch::kInt32},
    Pair{Dtype::i16, torch::kInt16},   Pair{Dtype::i8, torch::kInt8},
    Pair{Dtype::u8, torch::kUInt8},    Pair{Dtype::boolean, torch::kBool},
};

Dtype dtype_of(const Tensor& tensor) {
  const auto* pair = std::find_if(kPairs.begin(), kPairs.end(), [&](const Pair& known) {
    return known.torch == tensor.scalar_type();
  });
  expects(pair != kPairs.end(), "no safetensors type for {}", c10::toString(tensor.scalar_type()));
  return pair->ours;
}

}  // namespace

at::ScalarType scalar_type_of(Dtype dtype) {
  const auto* pair = std::find_if(kPairs.begin(), kPairs.end(),
                                  [&](const Pair& known) { return known.ours == dtype; });
  return pair == kPairs.end() ? at::ScalarType::Undefined : pair->torch;
}

formats::NamedArrays header_of(const TensorFile& file) {
  formats::NamedArrays header;
  header.metadata = file.metadata;
  for (const auto& [name, tensor] : file.tensors) {
    header.arrays[name] = {dtype_of(tensor), tensor.sizes().vec(), {}, nullptr};
  }
  return header;
}

void save_tensors(const std::filesystem::path& path, const TensorFile& file) {
  formats::SafetensorsWriter writer(path, header_of(file));
  for (const auto& name : writer.order()) {
    const auto plain = file.tensors.at(name).detach().cpu().contiguous();
    writer.write(name, 0, {static_cast<const char*>(plain.data_ptr()), plain.nbytes()});
  }
  writer.finish();
}

TensorFile load_tensors(const std::filesystem::path& path) {
  TensorFile file;
  const auto memory = [&](const std::string& name, const formats::Array& array) {
    const auto type = scalar_type_of(array.dtype);
    ensure(type != at::ScalarType::Undefined, "{}: tensor {}: type {} is not supported",
           path.string(), printable(name), formats::name_of(array.dtype));
    auto& tensor = file.tensors[name];
    tensor = torch::empty(array.shape, type);
    return std::span(static_cast<char*>(tensor.data_ptr()), tensor.nbytes());
  };
  file.metadata = formats::read_safetensors(path, memory).metadata;
  return file;
}

}  // namespace partwise::networks
