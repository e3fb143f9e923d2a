#include "partwise/base/names.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <numeric>

namespace partwise {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view typed, std::span<const std::string> known) {
  const auto nearest = std::min_element(known.begin(), known.end(), [&](auto& a, auto& b) {
    return edit_distance(typed, a) < edit_distance(typed, b);
  });
  return nearest == known.end() ? std::string() : *nearest;
}

std::size_t index_of_name(std::string_view kind,
                          std::string_view name,
                          std::span<const std::string> known) {
  const auto found = std::find(known.begin(), known.end(), name);
  ensure(found != known.end(), "no {} '{}'; valid: {} (did you mean '{}'?)", kind, name,
         join(known), nearest_name(name, known));
  return static_cast<std::size_t>(found - known.begin());
}

std::string join(std::span<const std::string> names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names.begin(), names.end(), separator));
}

}  // namespace partwise
