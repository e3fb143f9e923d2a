#include "partwise/tensors/safetensors.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/tensors/torch.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

namespace partwise::tensors {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

constexpr std::size_t kMaxHeader = 100'000'000;  // the format's own cap
constexpr auto kHashKey = "content_hash";

struct DtypeName {
  std::string_view name;
  torch::Dtype dtype;
};
constexpr std::array kDtypes{
    DtypeName{"F64", torch::kFloat64}, DtypeName{"F32", torch::kFloat32},
    DtypeName{"F16", torch::kFloat16}, DtypeName{"BF16", torch::kBFloat16},
    DtypeName{"I64", torch::kInt64},   DtypeName{"I32", torch::kInt32},
    DtypeName{"I16", torch::kInt16},   DtypeName{"I8", torch::kInt8},
    DtypeName{"U8", torch::kUInt8},    DtypeName{"BOOL", torch::kBool},
};

std::string_view name_of(torch::Dtype dtype) {
  for (const auto& row : kDtypes) {
    if (row.dtype == dtype) return row.name;
  }
  expects(false, "no safetensors type for {}", c10::toString(dtype));
  return {};
}

struct Entry {
  torch::Dtype dtype = torch::kFloat32;
  std::vector<int64_t> shape;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Bytes a tensor of this shape needs; throws std::overflow_error rather than wrapping around.
std::size_t byte_count(const Entry& entry) {
  std::size_t bytes = torch::elementSize(entry.dtype);
  for (const int64_t extent : entry.shape) {
    if (extent < 0) throw std::overflow_error("negative extent");
    const auto factor = static_cast<std::size_t>(extent);
    if (factor != 0 && bytes > std::numeric_limits<std::size_t>::max() / factor) {
      throw std::overflow_error("shape overflows");
    }
    bytes *= factor;
  }
  return bytes;
}

Entry read_entry(const nlohmann::json& json, std::size_t data_size, const std::string& place) {
  Entry entry;
  const auto dtype = json.at("dtype").get<std::string>();
  const auto* row = std::find_if(kDtypes.begin(), kDtypes.end(),
                                 [&](const DtypeName& known) { return known.name == dtype; });
  ensure(row != kDtypes.end(), "{}: type {} is not supported", place, dtype);
  entry.dtype = row->dtype;
  entry.shape = json.at("shape").get<std::vector<int64_t>>();
  const auto offsets = json.at("data_offsets").get<std::array<std::size_t, 2>>();
  entry.begin = offsets[0];
  entry.end = offsets[1];
  ensure(entry.begin <= entry.end && entry.end <= data_size,
         "{}: offsets [{}, {}] lie outside the {} bytes of data (truncated file?)", place,
         entry.begin, entry.end, data_size);
  ensure(byte_count(entry) == entry.end - entry.begin, "{}: shape and offsets disagree", place);
  return entry;
}

}  // namespace

void save_tensors(const std::filesystem::path& path, const TensorFile& file) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const auto& [name, tensor] : file.tensors) {
    const auto plain = tensor.detach().cpu().contiguous();
    const std::size_t begin = data.size();
    data.append(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
    header[name] = {{"dtype", name_of(plain.scalar_type())},
                    {"shape", plain.sizes().vec()},
                    {"data_offsets", {begin, data.size()}}};
  }
  header["__metadata__"] = file.metadata;
  header["__metadata__"][kHashKey] = content_hash(data);
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // keeps the data aligned
  std::string bytes(sizeof(uint64_t), '\0');
  const uint64_t length = text.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  write_file_atomically(path, bytes + text + data);
}

TensorFile load_tensors(const std::filesystem::path& path) {
  const auto place = path.string();
  const auto bytes = read_file(path, std::size_t{1} << 36U);
  uint64_t length = 0;
  ensure(bytes.size() >= sizeof length, "{}: not a safetensors file (only {} bytes)", place,
         bytes.size());
  std::memcpy(&length, bytes.data(), sizeof length);
  ensure(length <= kMaxHeader && length <= bytes.size() - sizeof length,
         "{}: not a safetensors file, or truncated (header of {} bytes in a file of {})", place,
         length, bytes.size());
  const std::string_view text(bytes.data() + sizeof length, length);
  const std::string_view data = std::string_view(bytes).substr(sizeof length + length);
  TensorFile file;
  try {
    const auto header = nlohmann::json::parse(text);
    for (const auto& [name, json] : header.items()) {
      if (name == "__metadata__") {
        file.metadata = json.get<std::map<std::string, std::string>>();
        continue;
      }
      const auto entry = read_entry(json, data.size(), fmt::format("{}: tensor {}", place, name));
      auto tensor = torch::empty(entry.shape, torch::TensorOptions().dtype(entry.dtype));
      if (entry.end > entry.begin) {  // an empty tensor has no memory to copy to
        std::memcpy(tensor.data_ptr(), data.data() + entry.begin, entry.end - entry.begin);
      }
      file.tensors.emplace(name, std::move(tensor));
    }
  } catch (const nlohmann::json::exception& problem) {
    throw Error(fmt::format("{}: damaged safetensors header: {}", place, problem.what()));
  } catch (const std::overflow_error&) {
    throw Error(fmt::format("{}: damaged safetensors header: impossible shape", place));
  }
  const auto hash = file.metadata.find(kHashKey);
  ensure(hash == file.metadata.end() || hash->second == content_hash(data),
         "{}: contents do not match their checksum; the file is damaged", place);
  return file;
}

}  // namespace partwise::tensors
