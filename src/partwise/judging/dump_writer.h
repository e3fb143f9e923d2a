#pragma once

#include "partwise/formats/safetensors.h"
#include "partwise/judging/dump.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace partwise::judging {

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
