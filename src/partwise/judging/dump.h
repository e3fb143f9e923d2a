#pragma once

#include "partwise/metrics/activations.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace partwise::judging {

// What a dump says of itself, in the file's metadata (texts there).
struct DumpLabel {
  std::string layer;
  std::string net;
  std::string split;  // of the rows to be judged; "all": all rows; "": not said
  std::string task;   // "multi" or "binary:CATEGORY"; "": not said
  metrics::UnitGrid grid;
  metrics::UnitGrid masked_grid;  // masked_unit_stride and _offset, where they differ
};

// Activations of one layer, by any framework: a safetensors file with
//   maps        [rows, filters, n, n]  f32 or f16, after ReLU, before the mask
//   annotation  [rows] int64           ids in dataset.json; -1: the whole image, without object
//   category    [filters] int64        optional: the category id each filter stands for
//   masked      [rows, filters, m, m]  optional; m = n unless masked_unit_stride is given
//   image       [rows] int64           optional: image ids, for the rows without annotation
struct Dump {
  std::string file;  // its name, for complaints
  DumpLabel label;
  metrics::Maps maps;
  metrics::Maps masked;  // maps where the file has none
  std::vector<int64_t> annotation;
  std::optional<std::vector<int64_t>> category;
  std::optional<std::vector<int64_t>> image;
  std::vector<std::shared_ptr<const void>> owners;  // of the numbers
};

// The numbers of an f32 file stay in the mapped file. An Error names the file and what is wrong: a
// missing array or metadata, shapes that do not fit, a number that is negative or not finite.
Dump read_dump(const std::filesystem::path& path);

}  // namespace partwise::judging
