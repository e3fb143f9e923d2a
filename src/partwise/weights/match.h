#pragma once

#include "partwise/formats/arrays.h"

#include <span>

namespace partwise::weights {

// An array that a network needs.
struct Wanted {
  std::string name;
  std::vector<int64_t> shape;
};

// How what a file holds differs from what a network needs.
struct Match {
  struct Missing {
    Wanted wanted;
    std::string nearest;  // a surplus name, of the wanted shape if there is one; may be empty
  };
  struct Misshaped {
    Wanted wanted;
    std::vector<int64_t> given;
  };
  std::size_t found = 0;  // with the right name and shape
  std::vector<Missing> missing;
  std::vector<Misshaped> misshaped;
  std::vector<std::string> surplus;

  [[nodiscard]] bool complete() const { return missing.empty() && misshaped.empty(); }
};

Match match(std::span<const Wanted> wanted, const formats::NamedArrays& given);

// One line a difference, at most `limit` of each kind:
//   "missing conv1.weight [96, 3, 7, 7] (did you mean conv1.weights?)"
// Empty when there is none.
std::string describe(const Match& match, std::size_t limit = 12);

}  // namespace partwise::weights
