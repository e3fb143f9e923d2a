#include "partwise/metrics/served_categories.h"

#include "partwise/base/error.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace partwise::metrics {
namespace {

constexpr uint64_t kCategoryStream = 0x73657276;
constexpr int64_t kCategoryDraws = 200;

// [category]: how many filters stand for it, as shares of what would be fair.
std::vector<double> fair_shares(std::span<const int64_t> filter_category,
                                std::span<const int32_t> filter_counts,
                                std::size_t categories) {
  std::vector<double> shares(categories);
  for (std::size_t f = 0; f < filter_category.size(); ++f) {
    if (filter_category[f] >= 0) shares[filter_category[f]] += filter_counts[f];
  }
  for (auto& share : shares)
    share = share * static_cast<double>(categories) / static_cast<double>(filter_category.size());
  return shares;
}

}  // namespace

Finding smallest_category_share(const MapSummaries& maps,
                                std::span<const int64_t> filter_category,
                                std::span<const std::string> categories,
                                const BootstrapOptions& bootstrap) {
  expects(std::ssize(filter_category) == maps.filters, "{} categories for {} filters",
          filter_category.size(), maps.filters);
  if (categories.size() < 2 || maps.filters == 0) return {kNaN, kNaN, kNaN};
  std::vector<int64_t> stands_for(filter_category.begin(), filter_category.end());
  for (int64_t f = 0; f < maps.filters; ++f) {
    const auto peaks = maps.peaks_of(f);
    if (std::none_of(peaks.begin(), peaks.end(), [](float peak) { return peak > 0.0F; }))
      stands_for[f] = -1;
  }
  const auto smallest = [&](std::span<const int64_t> of, std::span<const int32_t> counts) {
    const auto shares = fair_shares(of, counts, categories.size());
    return *std::min_element(shares.begin(), shares.end());
  };
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.filters), 1);
  const auto shares = fair_shares(stands_for, once, categories.size());
  const auto fewest = std::min_element(shares.begin(), shares.end());
  auto drawn = bootstrap_interval(maps.rows, maps.filters, bootstrap, [&](const Resample& draw) {
    return smallest(stands_for, draw.filters);
  });
  auto finding =
      finding_within(*fewest, centred_interval(*fewest, std::move(drawn.draws)), 0.0, 1.0);

  ExistingMean at_random;
  for (int64_t draw = 0; draw < kCategoryDraws; ++draw) {
    auto random = control_random(bootstrap, kCategoryStream, draw);
    std::vector<int64_t> any(once.size());
    for (auto& category : any) category = random.below(std::ssize(categories));
    at_random.add(smallest(any, once));
  }
  finding.controls["random_categories"] = at_random.value();
  finding.facts["category"] = categories[fewest - shares.begin()];
  auto unserved = nlohmann::json::array();
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (shares[c] < kServedFrom) unserved.push_back(categories[c]);
  }
  finding.facts["unserved"] = unserved;
  return finding;
}

}  // namespace partwise::metrics
