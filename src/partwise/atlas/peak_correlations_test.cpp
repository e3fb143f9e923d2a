#include "partwise/atlas/peak_correlations.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace partwise::atlas {
namespace {

// peaks [filters, rows]
metrics::MapSummaries layer_of(std::vector<float> peaks, int64_t filters) {
  metrics::MapSummaries layer;
  layer.filters = filters;
  layer.rows = std::ssize(peaks) / filters;
  layer.side = 1;
  layer.cells.resize(peaks.size());
  layer.masses.resize(peaks.size());
  layer.peaks = std::move(peaks);
  return layer;
}

metrics::MapSummaries drawn_layer(int64_t filters, int64_t rows) {
  Random random(11);
  std::vector<float> peaks;
  for (int64_t i = 0; i < filters * rows; ++i)
    peaks.push_back(static_cast<float>(random.uniform(0.0, 2.0)));
  return layer_of(std::move(peaks), filters);
}

TEST(NearestFilters, AreThoseThatFireTogether) {
  const auto layer = layer_of({1, 2, 3, 4,   //
                               4, 3, 2, 1,   // the opposite
                               2, 4, 6, 8,   // the same, louder
                               1, 2, 3, 3,   // nearly
                               5, 5, 5, 5},  // always
                              5);
  const auto nearest = nearest_filters(layer, 0, 9);
  ASSERT_EQ(nearest.size(), 4U);
  EXPECT_EQ(nearest[0].filter, 2);
  EXPECT_NEAR(nearest[0].correlation, 1.0, 1e-12);  // rounding
  EXPECT_EQ(nearest[1].filter, 3);
  EXPECT_EQ(nearest[2].filter, 4);
  EXPECT_DOUBLE_EQ(nearest[2].correlation, 0.0);
  EXPECT_EQ(nearest[3].filter, 1);
  EXPECT_EQ(nearest_filters(layer, 0, 2).size(), 2U);
}

TEST(MatchedFilters, FindAnotherOrderOfTheSame) {
  const auto first = drawn_layer(7, 40);
  const std::vector<int64_t> order{3, 6, 0, 5, 1, 4, 2};
  std::vector<float> peaks;
  for (const int64_t filter : order) {
    for (const float peak : first.peaks_of(filter)) peaks.push_back(3.0F * peak + 1.0F);
  }
  const auto matches = matched_filters(first, layer_of(peaks, 7));
  ASSERT_EQ(matches.size(), 7U);
  for (const auto& match : matches) {
    EXPECT_EQ(order[static_cast<std::size_t>(match.second)], match.first);
    EXPECT_NEAR(match.correlation, 1.0, 1e-6);  // single precision
  }
}

TEST(MatchedFilters, OfUnequalLayersAreAsManyAsTheSmallerHas) {
  const auto large = drawn_layer(6, 30);
  const auto small = layer_of({large.peaks.begin() + 60, large.peaks.begin() + 120}, 2);
  const auto there = matched_filters(small, large);
  const auto back = matched_filters(large, small);
  ASSERT_EQ(there.size(), 2U);
  ASSERT_EQ(back.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(there[i].second, static_cast<int64_t>(i) + 2);
    EXPECT_EQ(back[i].first, there[i].second);
    EXPECT_EQ(back[i].second, there[i].first);
  }
}

}  // namespace
}  // namespace partwise::atlas
