#pragma once

// For tests: writes small .mat files in both formats.
#include <cstring>
#include <filesystem>
#include <map>
#include <matio.h>
#include <string>
#include <vector>

namespace partwise::datasets {

using MatlabFields = std::map<std::string, matvar_t*>;  // owned by the struct made of them

inline matvar_t* matlab_array(
    matio_classes kind, matio_types type, int64_t rows, int64_t columns, const void* data) {
  std::size_t size[2] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
  return Mat_VarCreate(nullptr, kind, type, 2, size, const_cast<void*>(data), 0);
}

inline matvar_t* matlab_text(const std::string& text) {
  const auto size = static_cast<int64_t>(text.size());
  return matlab_array(MAT_C_CHAR, MAT_T_UINT8, size > 0 ? 1 : 0, size, text.data());
}

// `values` column by column.
inline matvar_t* matlab_numbers(int64_t rows, int64_t columns, const std::vector<double>& values) {
  return matlab_array(MAT_C_DOUBLE, MAT_T_DOUBLE, rows, columns, values.data());
}

// `pixels` row by row.
inline matvar_t* matlab_mask(int64_t rows, int64_t columns, const std::vector<uint8_t>& pixels) {
  std::vector<uint8_t> turned;
  for (int64_t x = 0; x < columns; ++x) {
    for (int64_t y = 0; y < rows; ++y) {
      turned.push_back(pixels[static_cast<std::size_t>(y * columns + x)]);
    }
  }
  return matlab_array(MAT_C_UINT8, MAT_T_UINT8, rows, columns, turned.data());
}

// A 1 x n struct array; every element has the fields of the first.
inline matvar_t* matlab_structs(const std::vector<MatlabFields>& elements) {
  std::vector<const char*> names;
  for (const auto& [name, value] : elements.front()) names.push_back(name.c_str());
  std::size_t size[2] = {1, elements.size()};
  auto* structs =
      Mat_VarCreateStruct(nullptr, 2, size, names.data(), static_cast<unsigned>(names.size()));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    for (const auto& [name, value] : elements[i]) {
      Mat_VarSetStructFieldByName(structs, name.c_str(), i, value);
    }
  }
  return structs;
}

inline void write_matlab(const std::filesystem::path& path,
                         const char* name,
                         matvar_t* value,
                         bool v73,
                         matio_compression compression = MAT_COMPRESSION_NONE) {
  std::filesystem::create_directories(path.parent_path());
  value->name = ::strdup(name);
  auto* file = Mat_CreateVer(path.c_str(), nullptr, v73 ? MAT_FT_MAT73 : MAT_FT_MAT5);
  Mat_VarWrite(file, value, compression);
  Mat_Close(file);
  Mat_VarFree(value);
}

}  // namespace partwise::datasets
