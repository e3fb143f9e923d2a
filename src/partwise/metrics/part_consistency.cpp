#include "partwise/metrics/part_consistency.h"

#include "partwise/base/error.h"
#include "partwise/base/parallel.h"
#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cmath>

namespace partwise::metrics {
namespace {

constexpr uint64_t kConsistencyStream = 0x636f6e73;
constexpr uint64_t kStabilityStream = 0x73746162;

// [place in the category's rows][landmark]: does the region hold it? NaN where it is not shown.
using Holdings = std::vector<std::vector<double>>;

template <typename Centre>
Holdings holdings(const Truth& truth,
                  const std::vector<int64_t>& rows,
                  double half,
                  const Centre& centre) {
  Holdings result;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    auto& held = result.emplace_back();
    for (const auto& instances : truth.rows[rows[place]].landmarks) {
      held.push_back(instances.empty()                           ? kNaN
                     : box_holds(centre(place), half, instances) ? 1.0
                                                                 : 0.0);
    }
  }
  return result;
}

std::vector<double> shares_of(const Holdings& holdings,
                              const std::vector<int64_t>& rows,
                              std::size_t landmarks,
                              std::span<const int32_t> row_counts) {
  std::vector<ExistingMean> means(landmarks);
  for (std::size_t place = 0; place < rows.size(); ++place) {
    for (std::size_t k = 0; k < landmarks; ++k)
      means[k].add(holdings[place][k], row_counts[rows[place]]);
  }
  std::vector<double> shares;
  shares.reserve(landmarks);
  for (const auto& mean : means) shares.push_back(mean.value());
  return shares;
}

// Both rows of numbers show the same landmarks, so NaN meets NaN.
bool same_set(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](double x, double y) { return x == y || std::isnan(x); });
}

std::vector<double> agreement(const Holdings& a, const Holdings& b) {
  std::vector<double> same;
  same.reserve(a.size());
  for (std::size_t place = 0; place < a.size(); ++place)
    same.push_back(same_set(a[place], b[place]) ? 1.0 : 0.0);
  return same;
}

double half_box(const ConsistencyOptions& options, const Truth& truth) {
  validate(options);
  return options.box * static_cast<double>(truth.input_side) / 2.0;
}

}  // namespace

PartConsistency part_consistency(const MapSummaries& maps,
                                 const UnitGrid& grid,
                                 const Truth& truth,
                                 std::span<const int64_t> filter_category,
                                 const ConsistencyOptions& options,
                                 const BootstrapOptions& bootstrap) {
  expect_consistent(maps);
  expect_matching(maps.rows, grid, truth);
  expect_categories(filter_category, maps.filters, truth);
  const double half = half_box(options, truth);
  const auto rows = rows_by_category(truth);
  std::vector<Holdings> own(static_cast<std::size_t>(maps.filters));
  std::vector<Holdings> shuffled(own.size());
  parallel_for(maps.filters, static_cast<int>(bootstrap.threads), [&](int64_t f) {
    if (filter_category[f] < 0) return;
    const auto& of_category = rows[filter_category[f]];
    auto random = control_random(bootstrap, kConsistencyStream, f);
    const auto partner = derangement(of_category.size(), random);
    own[f] = holdings(truth, of_category, half, [&](std::size_t place) {
      return peak_centre(maps, grid, f, of_category[place]);
    });
    shuffled[f] = holdings(truth, of_category, half, [&](std::size_t place) {
      return peak_centre(maps, grid, f, of_category[partner[place]]);
    });
  });
  const auto largest = [&](const Holdings& held, int64_t f, std::span<const int32_t> row_counts) {
    const int64_t category = filter_category[f];
    if (category < 0) return kNaN;
    const auto landmarks = truth.categories[category].landmarks.size();
    return largest_existing(shares_of(held, rows[category], landmarks, row_counts));
  };
  const auto verdict = [&](const Holdings& held, int64_t f, std::span<const int32_t> row_counts) {
    const double share = largest(held, f, row_counts);
    return std::isnan(share) ? kNaN : share >= options.share ? 1.0 : 0.0;
  };
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  std::vector<Holdings> centred;
  centred.reserve(rows.size());
  for (const auto& of_category : rows) {
    centred.push_back(holdings(truth, of_category, half,
                               [&](std::size_t) { return picture_centre(truth.input_side); }));
  }
  PartConsistency result;
  result.finding = mean_over_filters(maps.rows, maps.filters, bootstrap,
                                     [&](int64_t f, std::span<const int32_t> row_counts) {
                                       return verdict(own[f], f, row_counts);
                                     })
                       .finding;
  result.finding.controls = {
      {"shuffled_images", mean_control(maps.filters, bootstrap,
                                       [&](int64_t f) { return verdict(shuffled[f], f, once); })},
      {"constant_centre", mean_control(maps.filters, bootstrap, [&](int64_t f) {
         return filter_category[f] < 0 ? kNaN : verdict(centred[filter_category[f]], f, once);
       })}};
  for (int64_t f = 0; f < maps.filters; ++f) result.shares.push_back(largest(own[f], f, once));
  return result;
}

Finding part_stability(const MapSummaries& maps,
                       const MapSummaries& noisy,
                       const UnitGrid& grid,
                       const Truth& truth,
                       std::span<const int64_t> filter_category,
                       const ConsistencyOptions& options,
                       const BootstrapOptions& bootstrap) {
  expect_consistent(maps);
  expect_matching(maps.rows, grid, truth);
  expect_consistent(noisy);
  expect_matching(noisy.rows, grid, truth);
  expect_categories(filter_category, maps.filters, truth);
  expects(maps.filters == noisy.filters && maps.side == noisy.side,
          "noisy maps of {} filters and side {} for maps of {} and {}", noisy.filters, noisy.side,
          maps.filters, maps.side);
  const double half = half_box(options, truth);
  const auto rows = rows_by_category(truth);
  std::vector<std::vector<double>> same(static_cast<std::size_t>(maps.filters));
  std::vector<std::vector<double>> same_elsewhere(same.size());
  parallel_for(maps.filters, static_cast<int>(bootstrap.threads), [&](int64_t f) {
    if (filter_category[f] < 0) return;
    const auto& of_category = rows[filter_category[f]];
    auto random = control_random(bootstrap, kStabilityStream, f);
    const auto partner = derangement(of_category.size(), random);
    const auto held = [&](const MapSummaries& of, const auto& row_at) {
      return holdings(truth, of_category, half, [&](std::size_t place) {
        return peak_centre(of, grid, f, of_category[row_at(place)]);
      });
    };
    const auto here = [](std::size_t place) { return place; };
    const auto own = held(maps, here);
    same[f] = agreement(own, held(noisy, here));
    same_elsewhere[f] =
        agreement(own, held(maps, [&](std::size_t place) { return partner[place]; }));
  });
  const auto mean = [&](const std::vector<std::vector<double>>& agreed, int64_t f,
                        std::span<const int32_t> row_counts) {
    ExistingMean over_rows;
    for (std::size_t place = 0; place < agreed[f].size(); ++place)
      over_rows.add(agreed[f][place], row_counts[rows[filter_category[f]][place]]);
    return over_rows.value();
  };
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  auto finding = mean_over_filters(maps.rows, maps.filters, bootstrap,
                                   [&](int64_t f, std::span<const int32_t> row_counts) {
                                     return mean(same, f, row_counts);
                                   })
                     .finding;
  finding.controls = {{"constant_filter", 1.0},
                      {"other_images", mean_control(maps.filters, bootstrap, [&](int64_t f) {
                         return mean(same_elsewhere, f, once);
                       })}};
  return finding;
}

}  // namespace partwise::metrics
