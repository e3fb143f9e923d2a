#include "partwise/experiments/grid.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"

#include <algorithm>

namespace partwise::experiments {
namespace {

const std::vector<std::string>& chosen(const std::vector<std::string>& selected,
                                       const std::vector<std::string>& otherwise) {
  return selected.empty() ? otherwise : selected;
}

std::vector<std::string> grid_categories(const PaperTable& table,
                                         const Selection& selection,
                                         const std::vector<std::string>& of_data) {
  if (!table.binary) {
    ensure(selection.categories.empty(), "{} trains one network for all categories: no --category",
           table.name);
    return {""};
  }
  for (const auto& category : selection.categories) index_of_name("category", category, of_data);
  if (!selection.categories.empty()) return selection.categories;
  std::vector<std::string> common;
  std::copy_if(table.categories.begin(), table.categories.end(), std::back_inserter(common),
               [&](const auto& category) {
                 return std::find(of_data.begin(), of_data.end(), category) != of_data.end();
               });
  return common.empty() ? of_data : common;
}

}  // namespace

std::filesystem::path folder_of(const Cell& cell) {
  auto task = (cell.category.empty() ? "multi" : "binary-" + cell.category) + "-" + cell.loss;
  std::replace(task.begin(), task.end(), ' ', '-');
  return std::filesystem::path("runs") / cell.net / task / cell.arm /
         fmt::format("seed-{}", cell.seed);
}

std::string name_of(const Cell& cell) {
  return fmt::format("{} {} {}, {}, seed {}", cell.net, cell.task(), cell.loss, cell.arm,
                     cell.seed);
}

std::vector<Cell> grid_cells(const PaperTable& table,
                             const Selection& selection,
                             const std::vector<std::string>& categories_of_data) {
  for (const auto& loss : selection.losses) index_of_name("loss", loss, table.losses);
  std::vector<Cell> cells;
  for (const auto& net : chosen(selection.nets, table.nets)) {
    for (const auto& category : grid_categories(table, selection, categories_of_data)) {
      for (const auto& loss : chosen(selection.losses, table.losses)) {
        for (const auto seed : selection.seeds) {
          for (const auto& arm : chosen(selection.arms, table.arms))
            cells.push_back({net, arm, category, loss, seed});
        }
      }
    }
  }
  return cells;
}

}  // namespace partwise::experiments
