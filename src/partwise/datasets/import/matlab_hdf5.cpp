#include "partwise/datasets/import/matlab_hdf5.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <array>
#include <hdf5.h>
#include <memory>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 16;  // references could lead round in a circle
constexpr hsize_t kMostElements = hsize_t{1} << 28U;

// An HDF5 identifier with the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

struct Place {
  std::string text;
  int depth = 0;

  [[nodiscard]] Place inside(const std::string& name, std::size_t index) const {
    ensure(depth < kDeepest, "{}: nested deeper than anything we read", text);
    return {fmt::format("{}({}).{}", text, index + 1, name), depth + 1};
  }
};

// MATLAB's class name of an array; empty where HDF5 holds something of its own.
std::string class_of(hid_t object) {
  if (H5Aexists(object, "MATLAB_class") <= 0) return "";
  const Handle attribute(H5Aopen(object, "MATLAB_class", H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  std::array<char, 32> text{};
  const bool fits = type.valid() && H5Tget_class(type.get()) == H5T_STRING &&
                    H5Tis_variable_str(type.get()) == 0 && H5Tget_size(type.get()) < text.size();
  if (!fits || H5Aread(attribute.get(), type.get(), text.data()) < 0) return "";
  return text.data();
}

bool is_empty(hid_t object) {
  if (H5Aexists(object, "MATLAB_empty") <= 0) return false;
  const Handle attribute(H5Aopen(object, "MATLAB_empty", H5P_DEFAULT), H5Aclose);
  unsigned value = 0;
  return H5Aread(attribute.get(), H5T_NATIVE_UINT, &value) >= 0 && value != 0;
}

struct Extent {
  hsize_t rows = 0;
  hsize_t columns = 0;
};

// HDF5 counts dimensions the other way round than MATLAB.
Extent extent_of(hid_t dataset, const std::string& place) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
  ensure(rank >= 1, "{}: damaged", place);
  Extent extent{sizes[static_cast<std::size_t>(rank - 1)], 1};
  for (int i = 0; i + 1 < rank; ++i) {
    extent.columns *= sizes[static_cast<std::size_t>(i)];
    ensure(extent.columns <= kMostElements, "{}: too large", place);
  }
  ensure(extent.rows <= kMostElements / std::max<hsize_t>(extent.columns, 1), "{}: too large",
         place);
  return extent;
}

template <typename Number>
std::vector<Number> read_as(hid_t dataset, hid_t type, const Extent& extent, const Place& place) {
  std::vector<Number> values(extent.rows * extent.columns);
  ensure(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0, "{}: damaged",
         place.text);
  return values;
}

MatlabValue::Content array_content(hid_t dataset, const Extent& extent, const Place& place) {
  const auto name = class_of(dataset);
  if (name == "char") {
    const auto units = read_as<uint16_t>(dataset, H5T_NATIVE_UINT16, extent, place);
    std::string text;  // the names we read are ASCII
    for (const auto unit : units) text.push_back(unit < 128 ? static_cast<char>(unit) : '?');
    return text;
  }
  if (name == "logical" || name == "uint8" || name == "int8") {
    return read_as<uint8_t>(dataset, H5T_NATIVE_UINT8, extent, place);
  }
  const std::array<const char*, 6> numeric{"double", "single", "int16",
                                           "uint16", "int32",  "uint32"};
  const auto known = [&](const char* one) { return name == one; };
  if (!std::any_of(numeric.begin(), numeric.end(), known)) return {};
  return read_as<double>(dataset, H5T_NATIVE_DOUBLE, extent, place);
}

MatlabValue read_array(hid_t dataset, const Place& place) {
  if (is_empty(dataset)) return {place.text, 0, 0, {}};
  const auto extent = extent_of(dataset, place.text);
  auto content = extent.rows * extent.columns == 0 ? MatlabValue::Content()
                                                   : array_content(dataset, extent, place);
  return {place.text, static_cast<int64_t>(extent.rows), static_cast<int64_t>(extent.columns),
          std::move(content)};
}

MatlabValue read_object(hid_t object, const Place& place);

// A field of a struct array is a list of references to its values, without a class of its own.
bool is_list_of_references(hid_t object) {
  if (H5Iget_type(object) != H5I_DATASET || !class_of(object).empty()) return false;
  const Handle type(H5Dget_type(object), H5Tclose);
  return H5Tget_class(type.get()) == H5T_REFERENCE;
}

std::vector<MatlabValue> read_field(hid_t object, const std::string& name, const Place& place) {
  if (!is_list_of_references(object)) return {read_object(object, place.inside(name, 0))};
  std::vector<MatlabValue> values;
  const auto extent = extent_of(object, place.text);
  for (const auto& reference :
       read_as<hobj_ref_t>(object, H5T_STD_REF_OBJ, extent, place.inside(name, 0))) {
    const auto here = place.inside(name, values.size());
    const Handle target(H5Rdereference2(object, H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose);
    ensure(target.valid(), "{}: damaged", here.text);
    values.push_back(read_object(target.get(), here));
  }
  return values;
}

std::vector<std::string> names_in(hid_t group, const std::string& place) {
  H5G_info_t info{};
  ensure(H5Gget_info(group, &info) >= 0, "{}: damaged", place);
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::array<char, 256> name{};
    const auto length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(),
                                           name.size(), H5P_DEFAULT);
    ensure(length > 0, "{}: damaged", place);
    names.emplace_back(name.data());
  }
  return names;
}

MatlabValue read_structs(hid_t group, const Place& place) {
  MatlabValue::Content content;
  auto& fields = content.emplace<MatlabValue::Structs>();
  std::size_t count = 1;
  for (const auto& name : names_in(group, place.text)) {
    const Handle field(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
    ensure(field.valid(), "{}: field '{}' is damaged", place.text, name);
    auto values = read_field(field.get(), name, place);
    ensure(fields.empty() || values.size() == count, "{}: its fields are not equally long",
           place.text);
    count = values.size();
    fields[name] = std::move(values);
  }
  return {place.text, 1, static_cast<int64_t>(count), std::move(content)};
}

MatlabValue read_object(hid_t object, const Place& place) {
  switch (H5Iget_type(object)) {
    case H5I_GROUP:
      return read_structs(object, place);
    case H5I_DATASET:
      return read_array(object, place);
    default:
      return {place.text, 0, 0, {}};
  }
}

}  // namespace

bool matlab_supported() {
  return true;
}

MatlabValue read_matlab_hdf5(const fs::path& path, const char* variable) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // our own message is the one line to read
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  ensure(file.valid(), "{}: not a MATLAB file, or a truncated one", path.string());
  const bool there = H5Lexists(file.get(), variable, H5P_DEFAULT) > 0;
  const Handle object(there ? H5Oopen(file.get(), variable, H5P_DEFAULT) : -1, H5Oclose);
  ensure(object.valid(), "{}: holds no readable variable '{}'", path.string(), variable);
  return read_object(object.get(), {fmt::format("{}: {}", path.string(), variable), 0});
}

}  // namespace partwise::datasets
