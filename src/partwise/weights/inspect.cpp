#include "partwise/weights/inspect.h"

#include "partwise/base/printable.h"
#include "partwise/formats/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::weights {
namespace {

using formats::Array;
using formats::NamedArrays;
using formats::shape_text;

using Item = std::pair<const std::string, Array>;

std::vector<const Item*> in_natural_order(const NamedArrays& file) {
  std::vector<const Item*> items;
  for (const auto& item : file.arrays) items.push_back(&item);
  std::sort(items.begin(), items.end(),
            [](const Item* a, const Item* b) { return natural_less(a->first, b->first); });
  return items;
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

// Takes the run of digits at the front of `text` and returns it without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto length =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  auto digits = text.substr(0, length);
  text.remove_prefix(length);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

std::string size_text(double bytes) {
  constexpr double kMega = 1024.0 * 1024.0;
  return bytes < kMega ? fmt::format("{:.1f} KiB", bytes / 1024.0)
                       : fmt::format("{:.1f} MiB", bytes / kMega);
}

std::string range_text(const Range& range) {
  auto text =
      fmt::format("min {:<10.4g} mean {:<10.3g} max {:<10.4g}", range.min, range.mean, range.max);
  if (range.not_finite > 0) text += fmt::format(" {} NOT FINITE", range.not_finite);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const auto whole_a = a;
  const auto whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const auto x = take_number(a);
      const auto y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

Range range_of(const Array& array) {
  // In pieces: an array of gigabytes need not be in memory twice.
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  Range range;
  double sum = 0.0;
  std::size_t finite = 0;
  const auto size = size_of(array.dtype);
  for (std::size_t at = 0; at < array.bytes.size(); at += kPiece * size) {
    const auto bytes = array.bytes.substr(at, kPiece * size);
    for (const double value : formats::doubles_of({array.dtype, {}, bytes, nullptr})) {
      if (!std::isfinite(value)) continue;
      range.min = finite == 0 ? value : std::min(range.min, value);
      range.max = finite == 0 ? value : std::max(range.max, value);
      sum += value;
      ++finite;
    }
  }
  if (finite > 0) range.mean = sum / static_cast<double>(finite);
  range.not_finite = array.count() - finite;
  return range;
}

std::string summary_text(const NamedArrays& file, const std::string& name) {
  constexpr std::size_t kMaxWidth = 60;
  std::size_t width = 0;
  std::size_t shape_width = 0;
  std::size_t numbers = 0;
  std::size_t bytes = 0;
  for (const auto& [array_name, array] : file.arrays) {
    width = std::max(width, std::min(printable(array_name).size(), kMaxWidth));
    shape_width = std::max(shape_width, shape_text(array.shape).size());
    numbers += array.count();
    bytes += array.bytes.size();
  }
  auto text = fmt::format("{}: {}, {} arrays, {} numbers, {}\n", name, file.format,
                          file.arrays.size(), numbers, size_text(static_cast<double>(bytes)));
  for (const auto* item : in_natural_order(file)) {
    const auto& [array_name, array] = *item;
    text += fmt::format("  {:<{}}  {:<4}  {:<{}}  {}\n", printable(array_name), width,
                        name_of(array.dtype), shape_text(array.shape), shape_width,
                        range_text(range_of(array)));
  }
  if (!file.metadata.empty()) text += "metadata\n";
  for (const auto& [key, value] : file.metadata) {
    text += fmt::format("  {}: {}\n", printable(key), printable(value, 400));
  }
  if (!file.skipped.empty()) text += "skipped, as they are no arrays of the network\n";
  for (const auto& line : file.skipped) text += fmt::format("  {}\n", printable(line, 200));
  return text;
}

nlohmann::json summary_json(const NamedArrays& file) {
  auto arrays = nlohmann::json::array();
  for (const auto* item : in_natural_order(file)) {
    const auto& [name, array] = *item;
    const auto range = range_of(array);
    arrays.push_back({{"name", name},
                      {"dtype", name_of(array.dtype)},
                      {"shape", array.shape},
                      {"min", range.min},
                      {"mean", range.mean},
                      {"max", range.max},
                      {"not_finite", range.not_finite}});
  }
  return {{"format", file.format},
          {"arrays", arrays},
          {"metadata", file.metadata},
          {"skipped", file.skipped}};
}

}  // namespace partwise::weights
