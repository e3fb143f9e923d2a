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

// [places in the category's rows, landmarks]: does the region hold it? 0 where it is not shown.
using Holdings = std::vector<uint8_t>;

template <typename Centre>
Holdings holdings(const Truth& truth,
                  const std::vector<int64_t>& rows,
                  double half,
                  const Centre& centre) {
  Holdings held;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    for (const auto& instances : truth.rows[rows[place]].landmarks)
      held.push_back(!instances.empty() && box_holds(centre(place), half, instances) ? 1 : 0);
  }
  return held;
}

// [landmark]: some rows of a category.
using RowsByLandmark = std::vector<std::vector<int64_t>>;

RowsByLandmark rows_held(const Holdings& held,
                         const std::vector<int64_t>& rows,
                         std::size_t landmarks) {
  RowsByLandmark result(landmarks);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i] != 0) result[i % landmarks].push_back(rows[i / landmarks]);
  }
  return result;
}

// [category]
std::vector<RowsByLandmark> rows_that_show(const Truth& truth) {
  std::vector<RowsByLandmark> shown;
  for (const auto& category : truth.categories) shown.emplace_back(category.landmarks.size());
  for (std::size_t row = 0; row < truth.rows.size(); ++row) {
    if (truth.rows[row].category < 0) continue;
    const auto& landmarks = truth.rows[row].landmarks;
    for (std::size_t k = 0; k < landmarks.size(); ++k) {
      if (!landmarks[k].empty())
        shown[truth.rows[row].category][k].push_back(static_cast<int64_t>(row));
    }
  }
  return shown;
}

// [place]: do both hold the same landmarks?
std::vector<double> agreement(const Holdings& a, const Holdings& b, std::size_t places) {
  std::vector<double> same;
  same.reserve(places);
  const auto landmarks = static_cast<std::ptrdiff_t>(places == 0 ? 0 : a.size() / places);
  for (std::size_t place = 0; place < places; ++place) {
    const auto first = static_cast<std::ptrdiff_t>(place) * landmarks;
    same.push_back(std::equal(a.begin() + first, a.begin() + first + landmarks, b.begin() + first)
                       ? 1.0
                       : 0.0);
  }
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
  const auto shown = rows_that_show(truth);
  const auto held_about = [&](int64_t category, const auto& centre) {
    return rows_held(holdings(truth, rows[category], half, centre), rows[category],
                     truth.categories[category].landmarks.size());
  };
  std::vector<RowsByLandmark> own(static_cast<std::size_t>(maps.filters));
  std::vector<RowsByLandmark> shuffled(own.size());
  parallel_for(maps.filters, static_cast<int>(bootstrap.threads), [&](int64_t f) {
    if (filter_category[f] < 0) return;
    const auto& of_category = rows[filter_category[f]];
    auto random = control_random(bootstrap, kConsistencyStream, f);
    const auto partner = derangement(of_category.size(), random);
    own[f] = held_about(filter_category[f], [&](std::size_t place) {
      return peak_centre(maps, grid, f, of_category[place]);
    });
    shuffled[f] = held_about(filter_category[f], [&](std::size_t place) {
      return peak_centre(maps, grid, f, of_category[partner[place]]);
    });
  });
  std::vector<RowsByLandmark> centred;
  for (int64_t category = 0; category < std::ssize(rows); ++category) {
    centred.push_back(
        held_about(category, [&](std::size_t) { return picture_centre(truth.input_side); }));
  }
  using LandmarkDraws = std::vector<std::vector<double>>;  // [category][landmark]
  const auto draws_of_shown = [&](std::span<const int32_t> row_counts) {
    LandmarkDraws draws;
    for (const auto& of_category : shown) {
      auto& by_landmark = draws.emplace_back();
      for (const auto& seen : of_category) by_landmark.push_back(draws_among(seen, row_counts));
    }
    return draws;
  };
  const auto largest = [&](const RowsByLandmark& held, int64_t f, const LandmarkDraws& draws,
                           std::span<const int32_t> row_counts) {
    double share = kNaN;
    for (std::size_t k = 0; k < held.size(); ++k) {
      share = std::fmax(share,
                        quotient(draws_among(held[k], row_counts), draws[filter_category[f]][k]));
    }
    return share;
  };
  const auto verdict = [&](double share) {
    return std::isnan(share) ? kNaN : share >= options.share ? 1.0 : 0.0;
  };
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  const auto draws_once = draws_of_shown(once);
  const auto once_largest = [&](const RowsByLandmark& held, int64_t f) {
    return largest(held, f, draws_once, once);
  };
  PartConsistency result;
  result.finding = means_over_filters(1, maps.rows, maps.filters, bootstrap,
                                      [&](std::span<const int32_t> row_counts) -> FillNumbers {
                                        return [&, row_counts, draws = draws_of_shown(row_counts)](
                                                   int64_t f, std::span<double> numbers) {
                                          numbers[0] =
                                              verdict(largest(own[f], f, draws, row_counts));
                                        };
                                      })
                       .front()
                       .finding;
  result.finding.controls = {
      {"shuffled_images",
       mean_control(maps.filters, bootstrap,
                    [&](int64_t f) { return verdict(once_largest(shuffled[f], f)); })},
      {"constant_centre", mean_control(maps.filters, bootstrap, [&](int64_t f) {
         return filter_category[f] < 0 ? kNaN
                                       : verdict(once_largest(centred[filter_category[f]], f));
       })}};
  for (int64_t f = 0; f < maps.filters; ++f) result.shares.push_back(once_largest(own[f], f));
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
    same[f] = agreement(own, held(noisy, here), of_category.size());
    same_elsewhere[f] = agreement(
        own, held(maps, [&](std::size_t place) { return partner[place]; }), of_category.size());
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
