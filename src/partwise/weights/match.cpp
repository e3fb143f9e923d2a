#include "partwise/weights/match.h"

#include "partwise/base/names.h"
#include "partwise/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace partwise::weights {
namespace {

using formats::NamedArrays;
using formats::shape_text;

// Comparing every name with every other is for the few lines a person reads.
constexpr std::size_t kSuggestions = 50;
constexpr std::size_t kCandidates = 2000;

std::string suggestion(const Wanted& wanted,
                       const std::vector<std::string>& surplus,
                       const NamedArrays& given) {
  std::vector<std::string> shaped;
  std::copy_if(
      surplus.begin(), surplus.end(), std::back_inserter(shaped),
      [&](const std::string& name) { return given.arrays.at(name).shape == wanted.shape; });
  auto& candidates = shaped.empty() ? surplus : shaped;
  const auto count = std::min(candidates.size(), kCandidates);
  return nearest_name(wanted.name, std::span(candidates).first(count));
}

// The lines of one kind, cut off behind the limit.
template <typename Items, typename Line>
void add_lines(std::string& text, const Items& items, std::size_t limit, Line&& line) {
  for (std::size_t i = 0; i < std::min(items.size(), limit); ++i) text += line(items[i]) + "\n";
  if (items.size() > limit) text += fmt::format("... and {} more\n", items.size() - limit);
}

}  // namespace

Match match(std::span<const Wanted> wanted, const NamedArrays& given) {
  Match result;
  std::set<std::string_view> names;
  for (const auto& array : wanted) names.insert(array.name);
  for (const auto& [name, array] : given.arrays) {
    if (!names.contains(name)) result.surplus.push_back(name);
  }
  for (const auto& array : wanted) {
    const auto there = given.arrays.find(array.name);
    if (there == given.arrays.end()) {
      const bool helpful = result.missing.size() < kSuggestions;
      result.missing.push_back({array, helpful ? suggestion(array, result.surplus, given) : ""});
    } else if (there->second.shape != array.shape) {
      result.misshaped.push_back({array, there->second.shape});
    } else {
      ++result.found;
    }
  }
  return result;
}

std::string describe(const Match& match, std::size_t limit) {
  std::string text;
  add_lines(text, match.missing, limit, [](const Match::Missing& missing) {
    auto line = fmt::format("missing {} {}", printable(missing.wanted.name),
                            shape_text(missing.wanted.shape));
    if (missing.nearest.empty()) return line;
    return line + fmt::format(" (did you mean {}?)", printable(missing.nearest));
  });
  add_lines(text, match.misshaped, limit, [](const Match::Misshaped& misshaped) {
    return fmt::format("misshaped {}: {}, expected {}", printable(misshaped.wanted.name),
                       shape_text(misshaped.given), shape_text(misshaped.wanted.shape));
  });
  add_lines(text, match.surplus, limit,
            [](const std::string& name) { return "surplus " + printable(name); });
  return text;
}

}  // namespace partwise::weights
