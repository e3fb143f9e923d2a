#pragma once

#include "partwise/models/examples.h"
#include "partwise/models/task.h"
#include "partwise/networks/network.h"

#include <cstdint>
#include <string>
#include <vector>

namespace partwise::models {

// What a network takes each row for and what it is, as indices into class_names.
struct Decisions {
  std::vector<int64_t> decided;  // [rows]
  std::vector<int64_t> truth;

  bool right(int64_t row) const {
    return decided[static_cast<std::size_t>(row)] == truth[static_cast<std::size_t>(row)];
  }
};

Decisions decide(const networks::Network& network,
                 const Task& task,
                 const Examples& examples,
                 const std::string& device);

}  // namespace partwise::models
