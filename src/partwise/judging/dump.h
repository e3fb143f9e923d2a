#pragma once

#include "partwise/formats/safetensors.h"
#include "partwise/metrics/maps.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
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

struct DumpPlan {
  DumpLabel label;
  int64_t rows = 0;
  int64_t filters = 0;
  int64_t side = 0;
  int64_t masked_side = 0;          // 0: no mask
  bool half = false;                // f16 in place of f32
  std::vector<int64_t> annotation;  // [rows]; -1: none
  std::vector<int64_t> image;       // [rows]; empty: not written
  std::vector<int64_t> category;    // [filters]; empty: not written
};

// Writes a dump batch by batch, so that no more than a batch is in memory. The file appears under
// its name when it is finished; until then, and if the writer is dropped, nothing is there.
class DumpWriter {
 public:
  DumpWriter(const std::filesystem::path& path, DumpPlan plan);

  // Numbers of rows first_row, first_row + 1, ...; every row once, in any order. A number that f16
  // cannot hold is an Error.
  void write_maps(int64_t first_row, std::span<const float> values);
  void write_masked(int64_t first_row, std::span<const float> values);

  // Adds the checksum, flushes and renames.
  void finish();

 private:
  void write(const char* name, int64_t first_row, int64_t side, std::span<const float> values);

  std::string path_;
  DumpPlan plan_;
  formats::SafetensorsWriter writer_;
};

}  // namespace partwise::judging
