#pragma once

#include "partwise/judging/dump.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
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
  DumpWriter(std::filesystem::path path, DumpPlan plan);
  ~DumpWriter();
  DumpWriter(const DumpWriter&) = delete;
  DumpWriter& operator=(const DumpWriter&) = delete;

  // Numbers of rows first_row, first_row + 1, ...; every row once, in any order. A number that f16
  // cannot hold is an Error.
  void write_maps(int64_t first_row, std::span<const float> values);
  void write_masked(int64_t first_row, std::span<const float> values);

  // Adds the checksum, flushes and renames.
  void finish();

 private:
  void write(uint64_t begin, int64_t first_row, int64_t side, std::span<const float> values);

  std::filesystem::path path_;
  std::filesystem::path unfinished_;
  DumpPlan plan_;
  std::ofstream file_;
  uint64_t data_begin_ = 0;  // of the data section in the file
  uint64_t hash_begin_ = 0;  // of the checksum's digits in the file
  uint64_t maps_begin_ = 0;  // in the data section
  uint64_t masked_begin_ = 0;
};

}  // namespace partwise::judging
