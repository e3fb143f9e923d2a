#include "partwise/metrics/bootstrap.h"

#include "partwise/base/random.h"
#include "partwise/metrics/bootstrap_fixture.h"
#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

double resampled_mean(std::span<const double> values, std::span<const int32_t> counts) {
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += counts[i] * values[i];
  return sum / static_cast<double>(values.size());
}

// The percentile interval of a mean is a little short: its expected coverage at n = 100 is 94.4 %
// (normal quantiles for Student's, and 1/n for 1/(n - 1)); 2000 sets leave a standard error of
// 0.5 %.
TEST(BootstrapInterval, OfAMeanCoversTheTruthInNineteenOfTwentySets) {
  constexpr int kSets = 2000;
  Random random(20);
  int covered = 0;
  for (int set = 0; set < kSets; ++set) {
    std::vector<double> values(100);
    for (auto& value : values) value = 3.0 + random.normal();
    const auto interval = bootstrap_interval(
        100, 0, {.resamples = 400, .seed = set, .threads = 1},
        [&](const Resample& resample) { return resampled_mean(values, resample.rows); });
    covered += interval.low <= 3.0 && 3.0 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, 0.93 * kSets);
  EXPECT_LE(covered, 0.97 * kSets);
}

TEST(BootstrapInterval, DoesNotDependOnThreads) {
  const auto with = [](int64_t threads) {
    return bootstrap_interval(50, 20, {.resamples = 500, .seed = 9, .threads = threads},
                              [](const Resample& resample) {
                                Random random(resample.seed);
                                return resample.rows[3] * random.uniform() + resample.filters[7];
                              });
  };
  EXPECT_EQ(with(1).low, with(4).low);
  EXPECT_EQ(with(1).high, with(4).high);
}

TEST(BootstrapResample, DrawsAsManyAsThereAre) {
  std::mutex guard;
  std::set<uint64_t> seeds;
  bootstrap_interval(30, 12, {.resamples = 100}, [&](const Resample& resample) {
    EXPECT_EQ(std::accumulate(resample.rows.begin(), resample.rows.end(), 0), 30);
    EXPECT_EQ(std::accumulate(resample.filters.begin(), resample.filters.end(), 0), 12);
    const std::lock_guard lock(guard);
    seeds.insert(resample.seed);
    return 0.0;
  });
  EXPECT_EQ(seeds.size(), 200U);  // a second draw of filters each
}

TEST(BootstrapResample, IsTheSameForTwoStatisticsOfOneSample) {
  const BootstrapOptions options{.resamples = 200};
  const auto once = bootstrap_interval(
      9, 0, options, [](const Resample& resample) { return double(resample.rows[0]); });
  const auto again = bootstrap_interval(
      9, 0, options, [](const Resample& resample) { return 2.0 * resample.rows[0]; });
  EXPECT_EQ(2.0 * once.low, again.low);
  EXPECT_EQ(2.0 * once.high, again.high);
}

// x_rf = row effect + filter effect: the variance of the mean is the sum of both parts, so the
// two-way interval must be near sqrt 2 times the one-way ones (here by construction equal).
TEST(BootstrapInterval, OverRowsAndFiltersIsWiderThanOverEither) {
  std::vector<double> effect(60);
  Random random(4);
  for (auto& value : effect) value = random.normal();
  const auto width = [&](bool rows, bool filters) {
    const auto interval =
        bootstrap_interval(60, 60, {.resamples = 4000}, [&](const Resample& resample) {
          return (rows ? resampled_mean(effect, resample.rows) : 0.0) +
                 (filters ? resampled_mean(effect, resample.filters) : 0.0);
        });
    return interval.high - interval.low;
  };
  EXPECT_NEAR(width(true, true) / width(true, false), std::sqrt(2.0), 0.1);  // 4 standard errors
  EXPECT_NEAR(width(true, true) / width(false, true), std::sqrt(2.0), 0.1);
}

// The variance with N - 1 loses a factor 1 - 1/n in every resample on average.
TEST(CentredBootstrapInterval, IsThePlainOneMovedByTheResamplesBias) {
  Random random(8);
  std::vector<double> values(8);
  for (auto& value : values) value = random.normal();
  const auto variance = [&](std::span<const int32_t> counts) {
    std::vector<double> drawn;
    for (std::size_t i = 0; i < 8; ++i) drawn.insert(drawn.end(), counts[i], values[i]);
    return std::pow(sample_deviation(drawn), 2);
  };
  const auto statistic = [&](const Resample& resample) { return variance(resample.rows); };
  const std::vector<int32_t> once(8, 1);
  const double value = variance(once);
  const BootstrapOptions options{.resamples = 20'000};
  const auto plain = bootstrap_interval(8, 0, options, statistic);
  const auto centred = centred_bootstrap_interval(value, 8, 0, options, statistic);
  EXPECT_NEAR(centred.high - centred.low, plain.high - plain.low, 1e-12);
  EXPECT_NEAR((centred.low - plain.low) / value, 1.0 / 8.0, 0.02);  // 5 standard errors
}

TEST(CentredBootstrapInterval, OfAConstantIsThatConstant) {
  const auto interval =
      centred_bootstrap_interval(0.1, 5, 0, {}, [](const Resample&) { return 0.1; });
  EXPECT_EQ(interval.low, 0.1);
  EXPECT_EQ(interval.high, 0.1);
  EXPECT_TRUE(std::isnan(
      centred_bootstrap_interval(NAN, 5, 0, {}, [](const Resample&) { return 1.0; }).low));
}

TEST(BootstrapInterval, LeavesOutResamplesWithoutAValue) {
  const auto interval = bootstrap_interval(5, 0, {.resamples = 200}, [](const Resample& resample) {
    return resample.rows[0] == 0 ? std::nan("") : 1.0;
  });
  EXPECT_EQ(interval.low, 1.0);
  EXPECT_EQ(interval.high, 1.0);
}

TEST(BootstrapInterval, OfNothingDoesNotExist) {
  const auto none = bootstrap_interval(5, 0, {}, [](const Resample&) { return std::nan(""); });
  EXPECT_TRUE(std::isnan(none.low) && std::isnan(none.high));
  const auto empty = bootstrap_interval(0, 0, {}, [](const Resample&) { return 1.0; });
  EXPECT_TRUE(std::isnan(empty.low) && std::isnan(empty.high));
}

TEST(BootstrapInterval, PassesOnWhatTheStatisticThrows) {
  EXPECT_THROW(bootstrap_interval(
                   5, 0, {}, [](const Resample&) -> double { throw std::runtime_error("no"); }),
               std::runtime_error);
}

TEST(BootstrapDraws, OfThePartnerAreOtherFiltersWithTheSameRows) {
  const auto draws = [](std::span<const int32_t> Resample::*of) {
    return bootstrap_interval(30, 30, {.resamples = 20},
                              [&](const Resample& resample) {
                                const auto counts = resample.*of;
                                return static_cast<double>(counts[0] * 100 + counts[7]);
                              })
        .draws;
  };
  EXPECT_EQ(draws(&Resample::rows).own, draws(&Resample::rows).partner);
  EXPECT_NE(draws(&Resample::filters).own, draws(&Resample::filters).partner);
}

TEST(BootstrapDraws, OfANumberWithoutFiltersNeedNoPartner) {
  const auto draws = bootstrap_interval(9, 0, {.resamples = 20}, [](const Resample& resample) {
                       return static_cast<double>(resample.rows[0]);
                     }).draws;
  EXPECT_TRUE(draws.partner.empty());
  EXPECT_EQ(draws.apart(), draws.own);
}

}  // namespace
}  // namespace partwise::metrics
