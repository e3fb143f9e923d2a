#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace partwise::runs {

struct Scalar {
  std::string name;
  double value = 0.0;
};

// Every number of a row of log.jsonl under one flat name: "loss", "validation/accuracy"; of an
// entry of `layers` "conv4/purity", of a list "conv4/filters_per_category.0". The order is the
// row's own. What is no number (null: it does not exist) is left out.
std::vector<Scalar> scalars_of(const nlohmann::json& row);

// The number under a name of the row itself; 0 where there is none.
double scalar_at(const nlohmann::json& row, const char* name);

// The rows as a table: a header, `epoch` first and the other names in the order they first appear,
// then a line a row; a cell is empty where the row lacks the number. Numbers keep all their digits.
std::string log_csv(const std::vector<nlohmann::json>& rows);

}  // namespace partwise::runs
