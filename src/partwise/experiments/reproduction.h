#pragma once

#include "partwise/base/options.h"
#include "partwise/experiments/grid.h"
#include "partwise/experiments/machine.h"
#include "partwise/experiments/train_run.h"
#include "partwise/metrics/bootstrap.h"

#include <string>
#include <vector>

namespace partwise::experiments {

// A grid behind one of the paper's tables, to be trained and measured.
struct GridRequest {
  std::string table;
  std::string data;  // folder of the part-dataset
  std::string out;   // folder for runs and tables
  std::string init;  // weights to start from: a file, a run, or a folder with one file per net
  std::string split = "test";
  Selection selection;
  RecipeSources recipe;  // {net} in its config file's name stands for the cell's net
  metrics::BootstrapOptions bootstrap;
  Machine machine;
};

enum class CellProgress { open, begun, finished };
struct CellState {
  Cell cell;
  CellProgress progress = CellProgress::open;
};
// How far the grid is; nothing is written.
std::vector<CellState> list_grid(const GridRequest& request);

struct GridOutcome {
  std::string table;                // ours beside the paper's, in Markdown
  std::vector<std::string> failed;  // cells, by name; each was told when it failed
};
// Trains and measures all cells that are not finished; one that fails is named and the rest go on.
// The tables in `out` follow every cell. A request that cannot be fulfilled is an Error before
// anything is written.
GridOutcome run_grid(const GridRequest& request);

}  // namespace partwise::experiments

template <>
inline constexpr auto partwise::kWords<partwise::experiments::CellProgress> =
    partwise::words("open", "begun", "finished");
