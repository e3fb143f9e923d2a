#include "partwise/atlas/naming_sheet.h"

#include "partwise/base/error.h"
#include "partwise/base/file_lock.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/base/utf8.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cctype>

namespace partwise::atlas {
namespace {

constexpr int kSheetFormat = 1;
constexpr std::string_view kSheetStart = "naming-";
constexpr std::string_view kSheetEnd = ".json";
constexpr std::size_t kLongestRater = 40;
constexpr std::size_t kLongestSheetName = 200;  // bytes

std::filesystem::path sheet_file(const runs::RunFolder& run, const std::string& rater) {
  check_rater(rater);
  return run.path() / (std::string(kSheetStart) + rater + std::string(kSheetEnd));
}

bool is_rater(const std::string& rater) {
  return !rater.empty() && rater.size() <= kLongestRater &&
         std::all_of(rater.begin(), rater.end(), [](unsigned char c) {
           return c < 128 && (std::isalnum(c) != 0 || c == '-' || c == '_');
         });
}

// As names are compared.
std::string plain_name(const std::string& name) {
  const auto first = name.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  auto plain = name.substr(first, name.find_last_not_of(" \t\n") - first + 1);
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) {
    return c < 128 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c);
  });
  return plain;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Shares {
  double same = metrics::kNaN;
  double by_chance = metrics::kNaN;
  double kappa = metrics::kNaN;
};

Shares shares_of(const Pairs& pairs, std::span<const int32_t> counts) {
  std::map<std::string, double> first;
  std::map<std::string, double> second;
  double all = 0.0;
  double same = 0.0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double times = counts[i];
    all += times;
    same += pairs[i].first == pairs[i].second ? times : 0.0;
    first[pairs[i].first] += times;
    second[pairs[i].second] += times;
  }
  Shares shares;
  if (all == 0.0) return shares;
  shares.same = same / all;
  shares.by_chance = 0.0;
  for (const auto& [name, count] : first) {
    const auto found = second.find(name);
    if (found != second.end()) shares.by_chance += count / all * found->second / all;
  }
  if (shares.by_chance < 1.0)
    shares.kappa = (shares.same - shares.by_chance) / (1.0 - shares.by_chance);
  return shares;
}

}  // namespace

void check_rater(const std::string& rater) {
  ensure(is_rater(rater), "'{}' is no name for a sheet; use up to {} letters, digits, - and _",
         rater.substr(0, kLongestRater), kLongestRater);
}

Sheet read_sheet(const runs::RunFolder& run, const std::string& rater) {
  const auto path = sheet_file(run, rater);
  Sheet sheet;
  if (!std::filesystem::exists(path)) return sheet;
  const auto json = read_json(path);
  try {
    ensure(json.at("format") == kSheetFormat, "{}: format {}, of a newer program; update this one",
           path.string(), json.at("format").dump());
    for (const auto& one : json.at("named"))
      sheet[{one.at("layer"), one.at("filter")}] = one.at("name").get<std::string>();
  } catch (const nlohmann::json::exception& problem) {
    throw Error(
        fmt::format("{}: damaged ({}); mend or delete it", path.string(), reason_in(problem)));
  }
  return sheet;
}

Sheet name_on_sheet(const runs::RunFolder& run,
                    const std::string& rater,
                    const FilterPlace& place,
                    const std::string& name) {
  const auto path = sheet_file(run, rater);
  ensure(is_utf8(name), "the name is not UTF-8; type it again");
  ensure(name.size() <= kLongestSheetName, "a name of {} bytes is longer than {}; shorten it",
         name.size(), kLongestSheetName);
  const FileLock lock(run.path() / "names.lock");
  auto sheet = read_sheet(run, rater);
  if (name.empty()) {
    sheet.erase(place);
  } else {
    sheet[place] = name;
  }
  auto named = nlohmann::json::array();
  for (const auto& [filter, words] : sheet)
    named.push_back({{"layer", filter.layer}, {"filter", filter.filter}, {"name", words}});
  write_sealed_json(path, {{"format", kSheetFormat}, {"named", std::move(named)}});
  return sheet;
}

std::vector<std::string> raters_of(const runs::RunFolder& run) {
  std::vector<std::string> raters;
  for (const auto& entry : std::filesystem::directory_iterator(run.path())) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(kSheetStart) || !name.ends_with(kSheetEnd)) continue;
    const auto rater =
        name.substr(kSheetStart.size(), name.size() - kSheetStart.size() - kSheetEnd.size());
    if (is_rater(rater)) raters.push_back(rater);
  }
  std::sort(raters.begin(), raters.end());
  return raters;
}

std::vector<FilterPlace> sheet_order(std::vector<FilterPlace> filters, const std::string& rater) {
  constexpr uint64_t kSheetStream = 0x7368656574;
  Random random(derive_seed({kSheetStream, std::stoull(content_hash(rater), nullptr, 16)}));
  std::sort(filters.begin(), filters.end());
  shuffle(filters, random);
  return filters;
}

std::optional<Agreement> agreement_of(const Sheet& first,
                                      const Sheet& second,
                                      const metrics::BootstrapOptions& bootstrap) {
  Pairs pairs;
  for (const auto& [place, name] : first) {
    const auto found = second.find(place);
    if (found != second.end()) pairs.emplace_back(plain_name(name), plain_name(found->second));
  }
  if (pairs.empty()) return std::nullopt;
  const std::vector<int32_t> once(pairs.size(), 1);
  const auto shares = shares_of(pairs, once);
  auto kappa = metrics::finding_of_rows(
      std::ssize(pairs), bootstrap,
      [&](std::span<const int32_t> counts) { return shares_of(pairs, counts).kappa; });
  return Agreement{std::ssize(pairs), shares.same, shares.by_chance, std::move(kappa)};
}

}  // namespace partwise::atlas
