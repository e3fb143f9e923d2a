#pragma once

#include "partwise/formats/arrays.h"

#include <nlohmann/json.hpp>

namespace partwise::weights {

// Whether `a` comes before `b` when runs of digits count as numbers: "conv.2" before "conv.10".
// Different texts are never equal: "a1" and "a01" have an order too.
bool natural_less(std::string_view a, std::string_view b);

// Smallest, mean and largest of an array's finite numbers; all 0 when it has none.
struct Range {
  double min = 0.0;
  double mean = 0.0;
  double max = 0.0;
  std::size_t not_finite = 0;
};
Range range_of(const formats::Array& array);

// For people: one line an array, in the order a person counts (features.2 before features.10), then
// metadata and what was skipped. Safe to print, whatever the file says.
std::string summary_text(const formats::NamedArrays& file, const std::string& name);

// For machines: {"format", "arrays": [{"name", "dtype", "shape", "min", "mean", "max",
// "not_finite"}], "metadata", "skipped"}.
nlohmann::json summary_json(const formats::NamedArrays& file);

}  // namespace partwise::weights
