#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::atlas {

// What one filter did on all judged rows.
struct FilterRows {
  std::span<const float> peaks;           // [rows]; what does not fire, or is NaN, counts as 0
  std::span<const int64_t> row_category;  // [rows]; -1: none of the task's
  int64_t category = -1;  // that it stands for; -1: nobody knows, all rows are its own
};

// Rows to look at. The first three are of its own category and the strongest come first; `weak` are
// the last that still fire. `wrong`: the strongest of other categories.
struct Bands {
  std::vector<int64_t> strongest;
  std::vector<int64_t> middle;  // about the median of those that fire
  std::vector<int64_t> weak;
  std::vector<int64_t> wrong;
};

// No row is in two of the first three bands: a filter that fires on few rows has short ones.
Bands bands_of(const FilterRows& filter, int64_t count);

// Peaks of all rows in equal bins from 0 to the strongest; own and others together are all rows.
struct Histogram {
  std::vector<double> edges;  // one more than bins
  std::vector<int64_t> own;
  std::vector<int64_t> others;
};
Histogram histogram_of(const FilterRows& filter, int64_t bins);

// The strongest row of its own category, where it fires on any, else of all; -1: it fires on none.
int64_t strongest_row(const FilterRows& filter);

}  // namespace partwise::atlas
