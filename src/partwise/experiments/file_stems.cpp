#include "partwise/experiments/file_stems.h"

#include <fmt/format.h>

#include <algorithm>

namespace partwise::experiments {
namespace {

constexpr std::size_t kLongestStem = 180;  // bytes: an ending and a draft's mark fit behind it

std::string whole_letters(const std::string& text, std::size_t most) {
  const auto goes_on = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  auto end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && goes_on(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace

std::string FileStems::take(const std::string& words) {
  auto stem = whole_letters(words, kLongestStem);
  std::replace_if(
      stem.begin(), stem.end(), [](unsigned char c) { return c == '/' || c < 0x20U; }, '-');
  if (stem.empty() || stem.front() == '.') stem.insert(0, 1, '-');  // hidden, or no name at all
  auto free = stem;
  for (int again = 2; !taken_.insert(free).second; ++again)
    free = fmt::format("{}_{}", stem, again);
  return free;
}

}  // namespace partwise::experiments
