#include "partwise/datasets/import/matlab.h"

#include "partwise/base/error.h"
#include "partwise/base/rehearsal.h"
#include "partwise/datasets/import/matlab_hdf5.h"
#include "partwise/weights/convert.h"
#include "partwise/weights/mat5.h"

#include <mutex>

namespace partwise::datasets {
namespace {

using weights::Dtype;
using weights::MatValue;

// Masks shrink a hundredfold and more when they are compressed.
constexpr std::size_t kMostMemory = std::size_t{1} << 30U;

bool is_hdf5(std::string_view bytes) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1A\n";
  for (const std::size_t at : {0, 512, 1024, 2048}) {
    if (bytes.size() > at && bytes.substr(at).starts_with(kSignature)) return true;
  }
  return false;
}

MatlabValue convert(const MatValue& value, const std::string& place);

MatlabValue::Structs structs(const MatValue& value, const std::string& place) {
  MatlabValue::Structs fields;
  for (const auto& name : value.fields) {
    auto& values = fields[name];
    for (std::size_t i = 0; i < value.count(); ++i) {
      values.push_back(convert(value.field(name, i), fmt::format("{}({}).{}", place, i + 1, name)));
    }
  }
  return fields;
}

MatlabValue::Content content(const MatValue& value, const std::string& place) {
  switch (value.kind) {
    case MatValue::Kind::structure:
      return structs(value, place);
    case MatValue::Kind::text:
      return value.text;
    case MatValue::Kind::numbers:
      if (value.dtype == Dtype::u8 || value.dtype == Dtype::i8 || value.dtype == Dtype::boolean) {
        return std::vector<uint8_t>(value.bytes.begin(), value.bytes.end());
      }
      return weights::doubles_of({value.dtype, {}, value.bytes, nullptr});
    default:
      return {};
  }
}

// Every dimension after the first counts as columns.
MatlabValue convert(const MatValue& value, const std::string& place) {
  if (value.extents.empty()) return {place, 0, 0, {}};
  const auto rows = static_cast<int64_t>(value.extents[0]);
  const auto count = static_cast<int64_t>(weights::product(value.extents).value());
  if (count == 0) return {place, 0, 0, {}};
  return {place, rows, count / rows, content(value, place)};
}

MatlabValue read_v5(const FileBytes& file, const std::string& variable) {
  ensure(file.bytes.starts_with("MATLAB 5"),
         "{}: not a MATLAB file of version 5 or 7.3, or a truncated one", file.name);
  const auto variables = weights::parse_mat5(file, kMostMemory);
  const auto found = variables.find(variable);
  ensure(found != variables.end(), "{}: holds no readable variable '{}'", file.name, variable);
  return convert(found->second, fmt::format("{}: {}", file.name, variable));
}

MatlabValue read_v73(const std::filesystem::path& path, const char* variable) {
  static std::mutex guard;  // HDF5 is not safe on several threads
  const std::lock_guard lock(guard);
  ensure(survives([&] { (void)read_matlab_hdf5(path, variable); }),
         "{}: damaged or hostile MATLAB 7.3 file: HDF5 crashed on it", path.string());
  return read_matlab_hdf5(path, variable);
}

}  // namespace

MatlabValue read_matlab(const std::filesystem::path& path, const char* variable) {
  ensure(std::filesystem::is_regular_file(path), "{}: no such file", path.string());
  const auto file = map_file(path);
  return is_hdf5(file.bytes) ? read_v73(path, variable) : read_v5(file, variable);
}

}  // namespace partwise::datasets
