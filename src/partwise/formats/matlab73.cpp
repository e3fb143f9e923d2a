#include "partwise/base/error.h"
#include "partwise/base/printable.h"
#include "partwise/formats/matlab.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <hdf5.h>

namespace partwise::formats {
namespace {

using Kind = MatlabValue::Kind;

constexpr int kDeepestObject = 32;  // references could lead round in a circle
constexpr std::size_t kMostExtents = 32;
constexpr std::size_t kMostObjectMemory = std::size_t{1} << 32U;

// What MATLAB calls the class of an array, and what is read of it.
struct ClassRow {
  const char* name;
  Kind kind;
  Dtype dtype = Dtype::f64;
  hid_t type = -1;  // as numbers lie in memory
};

const ClassRow* class_named(const std::string& name) {
  static const std::array rows{
      ClassRow{"double", Kind::numbers, Dtype::f64, H5T_NATIVE_DOUBLE},
      ClassRow{"single", Kind::numbers, Dtype::f32, H5T_NATIVE_FLOAT},
      ClassRow{"int8", Kind::numbers, Dtype::i8, H5T_NATIVE_INT8},
      ClassRow{"uint8", Kind::numbers, Dtype::u8, H5T_NATIVE_UINT8},
      ClassRow{"int16", Kind::numbers, Dtype::i16, H5T_NATIVE_INT16},
      ClassRow{"uint16", Kind::numbers, Dtype::u16, H5T_NATIVE_UINT16},
      ClassRow{"int32", Kind::numbers, Dtype::i32, H5T_NATIVE_INT32},
      ClassRow{"uint32", Kind::numbers, Dtype::u32, H5T_NATIVE_UINT32},
      ClassRow{"int64", Kind::numbers, Dtype::i64, H5T_NATIVE_INT64},
      ClassRow{"uint64", Kind::numbers, Dtype::u64, H5T_NATIVE_UINT64},
      ClassRow{"logical", Kind::numbers, Dtype::boolean, H5T_NATIVE_UINT8},
      ClassRow{"char", Kind::text},
      ClassRow{"cell", Kind::cell},
      ClassRow{"struct", Kind::structure},
  };
  const auto* row = std::find_if(rows.begin(), rows.end(),
                                 [&](const ClassRow& known) { return known.name == name; });
  return row == rows.end() ? nullptr : row;
}

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

bool is_marked_empty(hid_t object) {
  if (H5Aexists(object, "MATLAB_empty") <= 0) return false;
  const Handle attribute(H5Aopen(object, "MATLAB_empty", H5P_DEFAULT), H5Aclose);
  unsigned value = 0;
  return H5Aread(attribute.get(), H5T_NATIVE_UINT, &value) >= 0 && value != 0;
}

struct Stored {
  H5T_class_t kind = H5T_NO_CLASS;
  std::size_t size = 0;
};

Stored stored_as(hid_t dataset) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  if (!type.valid()) return {};
  return {H5Tget_class(type.get()), H5Tget_size(type.get())};
}

struct Place {
  std::string text;
  int depth = 0;

  [[nodiscard]] Place inside(const std::string& name) const {
    ensure(depth < kDeepestObject, "{}: nested deeper than anything we read", text);
    return {text + name, depth + 1};
  }
  void require(bool condition) const { ensure(condition, "{}: damaged", text); }
};

std::vector<std::string> names_in(hid_t group, const Place& place) {
  H5G_info_t info{};
  place.require(H5Gget_info(group, &info) >= 0);
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::array<char, 256> name{};
    const auto length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(),
                                           name.size(), H5P_DEFAULT);
    place.require(length > 0);
    names.emplace_back(name.data());
  }
  return names;
}

class Matlab73Reader {
 public:
  MatlabValue object(hid_t object, const Place& place) {
    charge(sizeof(MatlabValue), place);
    const auto name = class_of(object);
    switch (H5Iget_type(object)) {
      case H5I_GROUP:
        // Sparse arrays are groups of their values' class.
        return name.empty() || name == "struct" ? structures(object, place) : other();
      case H5I_DATASET:
        return array(object, name, place);
      default:
        return other();
    }
  }

 private:
  static MatlabValue other() {
    MatlabValue value;
    value.kind = Kind::other;
    return value;
  }

  void charge(std::size_t bytes, const Place& place) {
    ensure(bytes <= budget_, "{}: too large: its file takes more than {} bytes", place.text,
           kMostObjectMemory);
    budget_ -= bytes;
  }

  MatlabValue array(hid_t dataset, const std::string& name, const Place& place) {
    const auto stored = stored_as(dataset);
    const auto* known = class_named(name);
    MatlabValue value;
    value.kind = known != nullptr               ? known->kind
                 : stored.kind == H5T_REFERENCE ? Kind::cell
                                                : Kind::other;
    if (value.kind == Kind::other) return value;
    if (value.kind == Kind::numbers) value.dtype = known->dtype;
    value.extents = extents(dataset, place);
    if (is_marked_empty(dataset)) {  // it holds its extents
      const auto held = read(dataset, H5T_NATIVE_UINT64, sizeof(uint64_t), value.extents, place);
      place.require(held->size() <= kMostExtents * sizeof(uint64_t));
      value.extents.resize(held->size() / sizeof(uint64_t));
      std::memcpy(value.extents.data(), held->data(), held->size());
      place.require(product(value.extents) == std::size_t{0});
      return value;
    }
    const bool numeric = stored.kind == H5T_INTEGER || stored.kind == H5T_FLOAT;
    if (value.kind == Kind::cell) {
      value.items = referenced(dataset, value.extents, place);
    } else if (value.kind == Kind::text && stored.kind == H5T_INTEGER) {
      value.text =
          stored.size == 1
              ? text_from_bytes(*read(dataset, H5T_NATIVE_UINT8, 1, value.extents, place))
              : text_from_utf16(*read(dataset, H5T_NATIVE_UINT16, 2, value.extents, place));
    } else if (value.kind == Kind::numbers && numeric) {
      const auto bytes = read(dataset, known->type, size_of(value.dtype), value.extents, place);
      value.bytes = *bytes;
      value.owner = bytes;
    } else {
      value.kind = Kind::other;  // complex numbers, for one
    }
    return value;
  }

  // HDF5 counts dimensions the other way round than MATLAB.
  static std::vector<std::size_t> extents(hid_t dataset, const Place& place) {
    const Handle space(H5Dget_space(dataset), H5Sclose);
    std::array<hsize_t, H5S_MAX_RANK> sizes{};
    const int rank = H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
    place.require(rank >= 1);
    std::vector<std::size_t> result(sizes.begin(), sizes.begin() + rank);
    std::reverse(result.begin(), result.end());
    if (rank == 1) result.push_back(1);
    return result;
  }

  std::shared_ptr<const std::string> read(hid_t dataset,
                                          hid_t type,
                                          std::size_t size,
                                          const std::vector<std::size_t>& extents,
                                          const Place& place) {
    const auto count = product(extents);
    ensure(count && *count <= kMostObjectMemory / size, "{}: too large", place.text);
    charge(*count * size, place);
    auto bytes = std::make_shared<std::string>(*count * size, '\0');
    if (*count == 0) return bytes;
    place.require(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes->data()) >= 0);
    return bytes;
  }

  // What a dataset of references refers to; element i is called "{i}" or "(i).field".
  std::vector<MatlabValue> referenced(hid_t dataset,
                                      const std::vector<std::size_t>& extents,
                                      const Place& place,
                                      const std::string& field = "") {
    place.require(stored_as(dataset).kind == H5T_REFERENCE);
    const auto bytes = read(dataset, H5T_STD_REF_OBJ, sizeof(hobj_ref_t), extents, place);
    std::vector<MatlabValue> values;
    for (std::size_t at = 0; at < bytes->size(); at += sizeof(hobj_ref_t)) {
      const auto number = values.size() + 1;
      const auto here = place.inside(field.empty() ? fmt::format("{{{}}}", number)
                                                   : fmt::format("({}).{}", number, field));
      const Handle target(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, bytes->data() + at),
                          H5Oclose);
      here.require(target.valid());
      values.push_back(object(target.get(), here));
    }
    return values;
  }

  // A field of one structure is its value; of several, a list of references to the values, without
  // a class of its own.
  MatlabValue structures(hid_t group, const Place& place) {
    MatlabValue value;
    value.kind = Kind::structure;
    value.extents = {1, 1};
    std::vector<std::vector<MatlabValue>> columns;
    for (const auto& name : names_in(group, place)) {
      const Handle field(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
      ensure(field.valid(), "{}: field '{}' is damaged", place.text, printable(name));
      std::vector<std::size_t> shape{1, 1};
      if (is_list(field.get())) {
        shape = extents(field.get(), place);
        columns.push_back(referenced(field.get(), shape, place, printable(name)));
      } else {
        columns.emplace_back().push_back(
            object(field.get(), place.inside("(1)." + printable(name))));
      }
      ensure(value.fields.empty() || columns.back().size() == columns.front().size(),
             "{}: its fields are not equally long", place.text);
      value.fields.push_back(text_from_bytes(name));
      value.extents = shape;
    }
    for (std::size_t i = 0; !columns.empty() && i < columns.front().size(); ++i) {
      for (auto& column : columns) value.items.push_back(std::move(column[i]));
    }
    return value;
  }

  static bool is_list(hid_t object) {
    return H5Iget_type(object) == H5I_DATASET && class_of(object).empty() &&
           stored_as(object).kind == H5T_REFERENCE;
  }

  std::size_t budget_ = kMostObjectMemory;
};

}  // namespace

void read_matlab73(const std::filesystem::path& path,
                   const std::string& only,
                   const HandOver& write) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // our own message is the one line to read
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  ensure(file.valid(), "{}: damaged or truncated MATLAB 7.3 file", path.string());
  Matlab73Reader reader;
  for (const auto& name : names_in(file.get(), {path.string(), 0})) {
    const bool own = name.starts_with('#');  // MATLAB's
    if (own || (!only.empty() && name != only)) continue;
    const Handle object(H5Oopen(file.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object.valid()) continue;
    const Place place{fmt::format("{}: {}", path.string(), printable(name)), 0};
    hand_over(text_from_bytes(name), reader.object(object.get(), place), write);
  }
}

}  // namespace partwise::formats
