#pragma once

#include "partwise/experiments/paper_tables.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace partwise::experiments {

// One training of a grid.
struct Cell {
  std::string net;
  std::string arm;
  std::string category;  // the positive one; empty: all (multi)
  std::string loss;
  int64_t seed = 1;

  std::string task() const { return category.empty() ? "multi" : "binary:" + category; }
};

// The cell's run below the grid's folder. Tables that need the same training share it.
std::filesystem::path folder_of(const Cell& cell);

// "vgg-16 binary:fox logistic, masked, seed 2"
std::string name_of(const Cell& cell);

// A part of a table's grid, or more than the paper's: what is empty is as in the table.
struct Selection {
  std::vector<std::string> nets = {};
  std::vector<std::string> arms = {};
  std::vector<std::string> categories = {};
  std::vector<std::string> losses = {};
  std::vector<int64_t> seeds{1};
};

// Net by net, within it category by category, and the arms of one comparison next to each other.
// A binary table without chosen categories takes those of the paper that the data have; if there
// are none, all of the data's.
std::vector<Cell> grid_cells(const PaperTable& table,
                             const Selection& selection,
                             const std::vector<std::string>& categories_of_data);

}  // namespace partwise::experiments
