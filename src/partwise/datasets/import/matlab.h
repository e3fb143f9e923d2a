#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace partwise::datasets {

// An array of MATLAB's: numbers, logical values and bytes, text, or structs. A wrong type or a
// missing field is an Error that begins with `place` (file, variable and fields on the way).
class MatlabValue {
 public:
  using Structs = std::map<std::string, std::vector<MatlabValue>>;  // field -> its value in each
  using Content = std::variant<std::monostate,                      // empty, or of no use here
                               std::vector<double>,
                               std::vector<uint8_t>,
                               std::string,
                               Structs>;

  MatlabValue() = default;
  MatlabValue(std::string place, int64_t rows, int64_t columns, Content content)
      : place_(std::move(place)), rows_(rows), columns_(columns), content_(std::move(content)) {}

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t columns() const { return columns_; }
  [[nodiscard]] int64_t count() const { return rows_ * columns_; }
  [[nodiscard]] bool empty() const { return count() == 0; }

  // A member of the index-th (0-based) struct of a struct array.
  [[nodiscard]] const MatlabValue& field(const char* name, int64_t index = 0) const;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<double> numbers() const;  // column-major
  [[nodiscard]] double number() const;                // a scalar, or text that spells one
  [[nodiscard]] std::vector<uint8_t> mask() const;    // row-major, 0 or 1

 private:
  std::string place_;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  Content content_;
};

// False in a build without libmatio and its HDF5: reading v7.3 is then an Error that says so.
bool matlab_supported();

// One variable of a .mat file. v5 is read by our own parser (weights/mat5.h), v7.3 by HDF5, which
// crashes on some damaged files: a child process reads first, and what it does not survive is an
// Error. May be called on several threads; those with v7.3 take turns.
MatlabValue read_matlab(const std::filesystem::path& path, const char* variable);

}  // namespace partwise::datasets
