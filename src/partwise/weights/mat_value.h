#pragma once

#include "partwise/weights/dtype.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace partwise::weights {

// A value of a MATLAB file. Every question to an absent or different kind of value has an empty
// answer, so that a path like net.meta.classes can be followed blindly.
struct MatValue {
  enum class Kind { absent, numbers, text, cell, structure, other };
  Kind kind = Kind::absent;
  std::vector<std::size_t> extents;  // the first runs fastest

  Dtype dtype = Dtype::f64;  // of numbers: real, dense, as many as the extents say
  std::string_view bytes;
  std::shared_ptr<const void> owner;

  std::string text;  // UTF-8

  std::vector<std::string> fields;  // of a structure
  std::vector<MatValue> items;  // cells; or all fields of the first structure, then the second's

  [[nodiscard]] std::size_t count() const;  // elements of a cell or structure array
  [[nodiscard]] const MatValue& cell(std::size_t index) const;
  [[nodiscard]] const MatValue& field(std::string_view name, std::size_t index = 0) const;
  [[nodiscard]] std::optional<std::string> as_text() const;
};

// The product of the extents; nothing when it does not fit.
std::optional<std::size_t> product(const std::vector<std::size_t>& extents);

// Text as MATLAB keeps it: UTF-8, Latin-1 or UTF-16 without pairs.
std::string text_from_bytes(std::string_view bytes);
std::string text_from_utf16(std::string_view bytes);

}  // namespace partwise::weights
