#pragma once

// For tests: makes MATLAB values and writes them as small files, in the versions that can be read.

#include "partwise/base/files.h"
#include "partwise/formats/matlab.h"

#include <zlib.h>

#ifdef PARTWISE_HDF5
#include <hdf5.h>
#endif

namespace partwise::formats::fixture {

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

inline MatlabValue matlab_array(Dtype dtype, std::vector<std::size_t> extents, std::string bytes) {
  MatlabValue value;
  value.kind = MatlabValue::Kind::numbers;
  value.extents = std::move(extents);
  value.dtype = dtype;
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  value.bytes = *owner;
  value.owner = owner;
  return value;
}

inline MatlabValue matlab_text(const std::string& text) {
  MatlabValue value;
  value.kind = MatlabValue::Kind::text;
  value.extents = {text.empty() ? std::size_t{0} : 1, text.size()};
  value.text = text;
  return value;
}

// `values` column by column.
inline MatlabValue matlab_numbers(std::size_t rows,
                                  std::size_t columns,
                                  const std::vector<double>& values) {
  return matlab_array(Dtype::f64, {rows, columns}, bytes_of(values));
}

// `pixels` row by row.
inline MatlabValue matlab_mask(std::size_t rows,
                               std::size_t columns,
                               const std::vector<uint8_t>& pixels) {
  std::vector<uint8_t> turned;
  for (std::size_t x = 0; x < columns; ++x) {
    for (std::size_t y = 0; y < rows; ++y) turned.push_back(pixels[y * columns + x]);
  }
  return matlab_array(Dtype::u8, {rows, columns}, bytes_of(turned));
}

inline MatlabValue matlab_cells(std::vector<MatlabValue> items) {
  MatlabValue value;
  value.kind = MatlabValue::Kind::cell;
  value.extents = {1, items.size()};
  value.items = std::move(items);
  return value;
}

using MatlabFields = std::map<std::string, MatlabValue>;

// A 1 x n struct array; every element has the fields of the first.
inline MatlabValue matlab_structs(const std::vector<MatlabFields>& elements) {
  MatlabValue value;
  value.kind = MatlabValue::Kind::structure;
  value.extents = {1, elements.size()};
  for (const auto& [name, inner] : elements.front()) value.fields.push_back(name);
  for (const auto& element : elements) {
    for (const auto& [name, inner] : element) value.items.push_back(inner);
  }
  return value;
}

// Version 5: elements of a tag (type, size) and data filled up to eight bytes.
inline std::string element5(uint32_t type, const std::string& bytes) {
  return bytes_of<uint32_t>({type, static_cast<uint32_t>(bytes.size())}) + bytes +
         std::string((8 - bytes.size() % 8) % 8, '\0');
}

inline std::string matrix5(const std::string& name, const MatlabValue& value) {
  using Kind = MatlabValue::Kind;
  struct Row {
    Dtype dtype;
    uint32_t type, kind;
  };
  constexpr std::array kRows{Row{Dtype::i8, 1, 8},
                             Row{Dtype::u8, 2, 9},
                             Row{Dtype::i16, 3, 10},
                             Row{Dtype::u16, 4, 11},
                             Row{Dtype::i32, 5, 12},
                             Row{Dtype::u32, 6, 13},
                             Row{Dtype::f32, 7, 7},
                             Row{Dtype::f64, 9, 6},
                             Row{Dtype::i64, 12, 14},
                             Row{Dtype::u64, 13, 15},
                             Row{Dtype::boolean, 2, 9 | 0x200U}};
  uint32_t kind = 0;
  std::string rest;
  if (value.kind == Kind::numbers) {
    const auto* row = std::find_if(kRows.begin(), kRows.end(),
                                   [&](const Row& known) { return known.dtype == value.dtype; });
    kind = row->kind;
    rest = element5(row->type, std::string(value.bytes));
  } else if (value.kind == Kind::text) {
    kind = 4;
    rest = element5(16, value.text);
  } else {
    kind = value.kind == Kind::cell ? 1 : 2;
    if (kind == 2) {
      std::string names;
      for (auto field : value.fields) {
        field.resize(32, '\0');
        names += field;
      }
      rest = element5(5, bytes_of<int32_t>({32})) + element5(1, names);
    }
    for (const auto& item : value.items) rest += matrix5("", item);
  }
  const std::vector<int32_t> extents(value.extents.begin(), value.extents.end());
  return element5(14, element5(6, bytes_of<uint32_t>({kind, 0})) + element5(5, bytes_of(extents)) +
                          element5(1, name) + rest);
}

inline std::string deflated(const std::string& plain) {
  uLongf size = ::compressBound(plain.size());
  std::string bytes(size, '\0');
  ::compress(reinterpret_cast<Bytef*>(bytes.data()), &size,
             reinterpret_cast<const Bytef*>(plain.data()), plain.size());
  bytes.resize(size);
  return bytes_of<uint32_t>({15, static_cast<uint32_t>(size)}) + bytes;
}

inline void write_matlab5(const std::filesystem::path& path,
                          const MatlabVariables& variables,
                          bool compressed) {
  std::string bytes = "MATLAB 5.0 MAT-file, by hand";
  bytes.resize(124, ' ');
  bytes += std::string("\0\1IM", 4);
  for (const auto& [name, value] : variables) {
    const auto plain = matrix5(name, value);
    bytes += compressed ? deflated(plain) : plain;
  }
  write_file_atomically(path, bytes);
}

#ifdef PARTWISE_HDF5

// Version 7.3 as MATLAB lays it out: numbers and text are datasets, one structure is a group, cells
// and the fields of several structures are datasets of references into the group #refs#.
class Matlab73Writer {
 public:
  Matlab73Writer(const std::filesystem::path& path, bool compressed) : compressed_(compressed) {
    const hid_t options = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(options, 512);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, options, H5P_DEFAULT);
    H5Pclose(options);
    refs_ = H5Gcreate2(file_, "#refs#", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  }
  ~Matlab73Writer() {
    H5Gclose(refs_);
    H5Fclose(file_);
  }
  Matlab73Writer(const Matlab73Writer&) = delete;
  Matlab73Writer& operator=(const Matlab73Writer&) = delete;

  void write(const std::string& name, const MatlabValue& value) { put(file_, name, value); }

 private:
  using Kind = MatlabValue::Kind;

  void put(hid_t group, const std::string& name, const MatlabValue& value) {
    const std::map<Dtype, std::pair<const char*, hid_t>> types{
        {Dtype::f64, {"double", H5T_NATIVE_DOUBLE}},    {Dtype::f32, {"single", H5T_NATIVE_FLOAT}},
        {Dtype::i8, {"int8", H5T_NATIVE_INT8}},         {Dtype::u8, {"uint8", H5T_NATIVE_UINT8}},
        {Dtype::i16, {"int16", H5T_NATIVE_INT16}},      {Dtype::u16, {"uint16", H5T_NATIVE_UINT16}},
        {Dtype::i32, {"int32", H5T_NATIVE_INT32}},      {Dtype::u32, {"uint32", H5T_NATIVE_UINT32}},
        {Dtype::i64, {"int64", H5T_NATIVE_INT64}},      {Dtype::u64, {"uint64", H5T_NATIVE_UINT64}},
        {Dtype::boolean, {"logical", H5T_NATIVE_UINT8}}};
    if (value.kind == Kind::structure && value.count() == 1) {
      const hid_t inner = H5Gcreate2(group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      set_class(inner, "struct");
      for (const auto& field : value.fields) put(inner, field, value.field(field));
      H5Gclose(inner);
    } else if (value.kind == Kind::structure) {
      const hid_t inner = H5Gcreate2(group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      set_class(inner, "struct");
      for (const auto& field : value.fields) {
        std::vector<MatlabValue> column;
        for (std::size_t i = 0; i < value.count(); ++i) column.push_back(value.field(field, i));
        put_references(inner, field, value.extents, column, "");
      }
      H5Gclose(inner);
    } else if (value.kind == Kind::cell) {
      put_references(group, name, value.extents, value.items, "cell");
    } else if (value.kind == Kind::text) {
      const std::vector<uint16_t> units(value.text.begin(), value.text.end());
      put_data(group, name, value.extents, H5T_NATIVE_UINT16, units.data(), "char");
    } else {
      const auto& [kind, type] = types.at(value.dtype);
      put_data(group, name, value.extents, type, value.bytes.data(), kind);
    }
  }

  void put_references(hid_t group,
                      const std::string& name,
                      const std::vector<std::size_t>& extents,
                      const std::vector<MatlabValue>& values,
                      const std::string& kind) {
    std::vector<hobj_ref_t> references;
    for (const auto& value : values) {
      const auto target = fmt::format("r{}", next_++);
      put(refs_, target, value);
      H5Rcreate(&references.emplace_back(), refs_, target.c_str(), H5R_OBJECT, -1);
    }
    put_data(group, name, extents, H5T_STD_REF_OBJ, references.data(), kind);
  }

  void put_data(hid_t group,
                const std::string& name,
                const std::vector<std::size_t>& extents,
                hid_t type,
                const void* data,
                const std::string& kind) {
    std::vector<hsize_t> sizes(extents.rbegin(), extents.rend());
    const bool empty = product(extents) == std::size_t{0};
    const std::vector<uint64_t> shape(extents.begin(), extents.end());
    if (empty) sizes = {shape.size()};  // an empty array holds its extents
    const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
    const hid_t options = H5Pcreate(H5P_DATASET_CREATE);
    if (compressed_ && !empty) {
      H5Pset_chunk(options, static_cast<int>(sizes.size()), sizes.data());
      H5Pset_deflate(options, 6);
    }
    const hid_t stored = empty ? H5T_NATIVE_UINT64 : type;
    const hid_t dataset =
        H5Dcreate2(group, name.c_str(), stored, space, H5P_DEFAULT, options, H5P_DEFAULT);
    H5Dwrite(dataset, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, empty ? shape.data() : data);
    if (!kind.empty()) set_class(dataset, kind);
    if (empty) {
      const hid_t scalar = H5Screate(H5S_SCALAR);
      const uint8_t yes = 1;
      const hid_t mark =
          H5Acreate2(dataset, "MATLAB_empty", H5T_NATIVE_UINT8, scalar, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(mark, H5T_NATIVE_UINT8, &yes);
      H5Aclose(mark);
      H5Sclose(scalar);
    }
    H5Dclose(dataset);
    H5Pclose(options);
    H5Sclose(space);
  }

  static void set_class(hid_t object, const std::string& name) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, name.size());
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(object, "MATLAB_class", type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, name.data());
    H5Aclose(attribute);
    H5Sclose(scalar);
    H5Tclose(type);
  }

  bool compressed_;
  hid_t file_ = -1;
  hid_t refs_ = -1;
  std::size_t next_ = 0;
};

#endif

enum class MatlabVersion { v5, v73 };

inline void write_matlab(const std::filesystem::path& path,
                         const MatlabVariables& variables,
                         MatlabVersion version,
                         bool compressed = false) {
  std::filesystem::create_directories(path.parent_path());
  if (version == MatlabVersion::v5) {
    write_matlab5(path, variables, compressed);
    return;
  }
#ifdef PARTWISE_HDF5
  {
    Matlab73Writer writer(path, compressed);
    for (const auto& [name, value] : variables) writer.write(name, value);
  }
  auto bytes = read_file(path);
  const std::string_view head = "MATLAB 7.3 MAT-file, by hand";
  bytes.replace(0, head.size(), head);
  write_file_atomically(path, bytes);
#endif
}

}  // namespace partwise::formats::fixture
