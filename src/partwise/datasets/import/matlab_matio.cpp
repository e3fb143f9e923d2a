#include "partwise/base/error.h"
#include "partwise/datasets/import/matlab.h"
#include "partwise/datasets/import/matlab_hdf5.h"

#include <hdf5.h>
#include <matio.h>
#include <memory>
#include <mutex>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

template <typename Number>
std::vector<double> doubles(const matvar_t& value, std::size_t count) {
  const auto* first = static_cast<const Number*>(value.data);
  return {first, first + count};
}

// The names we read are ASCII.
std::string ascii(const matvar_t& value, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned unit = value.data_size == 2 ? static_cast<const uint16_t*>(value.data)[i]
                                               : static_cast<const uint8_t*>(value.data)[i];
    text.push_back(unit < 128 ? static_cast<char>(unit) : '?');
  }
  return text;
}

MatlabValue convert(const matvar_t* value, const std::string& place);

MatlabValue::Structs structs(const matvar_t& value, std::size_t count, const std::string& place) {
  MatlabValue::Structs fields;
  auto* holder = const_cast<matvar_t*>(&value);
  const auto* const* names = Mat_VarGetStructFieldnames(holder);
  for (unsigned f = 0; f < Mat_VarGetNumberOfFields(holder); ++f) {
    auto& values = fields[names[f]];
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(convert(Mat_VarGetStructFieldByIndex(holder, f, i),
                               fmt::format("{}({}).{}", place, i + 1, names[f])));
    }
  }
  return fields;
}

MatlabValue::Content content(const matvar_t& value, std::size_t count, const std::string& place) {
  if (value.class_type == MAT_C_STRUCT) return structs(value, count, place);
  if (value.data == nullptr || value.nbytes < count * static_cast<std::size_t>(value.data_size)) {
    return {};
  }
  switch (value.class_type) {
    case MAT_C_DOUBLE:
      return doubles<double>(value, count);
    case MAT_C_SINGLE:
      return doubles<float>(value, count);
    case MAT_C_INT16:
      return doubles<int16_t>(value, count);
    case MAT_C_UINT16:
      return doubles<uint16_t>(value, count);
    case MAT_C_INT32:
      return doubles<int32_t>(value, count);
    case MAT_C_UINT32:
      return doubles<uint32_t>(value, count);
    case MAT_C_INT8:
    case MAT_C_UINT8: {
      const auto* first = static_cast<const uint8_t*>(value.data);
      return std::vector<uint8_t>(first, first + count);
    }
    case MAT_C_CHAR:
      return ascii(value, count);
    default:
      return {};
  }
}

// Every dimension after the first counts as columns.
MatlabValue convert(const matvar_t* value, const std::string& place) {
  if (value == nullptr || value->rank < 1 || value->dims == nullptr) return {place, 0, 0, {}};
  std::size_t columns = 1;
  for (int i = 1; i < value->rank; ++i) columns *= value->dims[i];
  const std::size_t rows = value->dims[0];
  auto held = rows * columns == 0 ? MatlabValue::Content() : content(*value, rows * columns, place);
  return {place, static_cast<int64_t>(rows), static_cast<int64_t>(columns), std::move(held)};
}

}  // namespace

bool matlab_supported() {
  return true;
}

MatlabValue read_matlab(const fs::path& path, const char* variable) {
  static std::mutex guard;  // HDF5 is not safe on several threads
  const std::lock_guard lock(guard);
  ensure(fs::is_regular_file(path), "{}: no such file", path.string());
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // our own message is the one line to read
  if (H5Fis_hdf5(path.c_str()) > 0) return read_matlab_hdf5(path, variable);
  const std::unique_ptr<mat_t, int (*)(mat_t*)> file(Mat_Open(path.c_str(), MAT_ACC_RDONLY),
                                                     Mat_Close);
  ensure(file != nullptr, "{}: not a MATLAB file, or a truncated one", path.string());
  const std::unique_ptr<matvar_t, void (*)(matvar_t*)> found(Mat_VarRead(file.get(), variable),
                                                             Mat_VarFree);
  ensure(found != nullptr, "{}: holds no readable variable '{}'", path.string(), variable);
  return convert(found.get(), fmt::format("{}: {}", path.string(), variable));
}

}  // namespace partwise::datasets
