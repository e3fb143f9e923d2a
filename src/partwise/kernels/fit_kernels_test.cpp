#include "partwise/kernels/fit_kernels.h"

#include "partwise/kernels/batch_fixture.h"

#include <gtest/gtest.h>

namespace partwise::kernels {
namespace {

// The numbers of one filter, written out: [images][cells + 1].
template <class T>
std::vector<std::vector<double>> fits_of(const Sample<T>& sample, int64_t filter) {
  const auto& batch = sample.batch;
  std::vector<std::vector<double>> fits;
  for (int64_t image = 0; image < batch.images; ++image) {
    const auto x = sample.map(image * batch.filters + filter);
    std::vector<double> row;
    double mass = 0.0;
    for (const double value : x) mass += value;
    for (int64_t mu = 0; mu < batch.cells(); ++mu) {
      double sum = 0.0;
      for (int64_t cell = 0; cell < batch.cells(); ++cell)
        sum += x[static_cast<std::size_t>(cell)] * sample.unit_at(filter, mu, cell);
      row.push_back(sum);
    }
    row.push_back(-mass);
    fits.push_back(row);
  }
  return fits;
}

template <class T>
void expect_fits(const Sample<T>& sample, const FitKernels<T>& kernels) {
  const auto& batch = sample.batch;
  const auto cells = static_cast<std::size_t>(batch.cells());
  const auto templates = cells + 1;
  const auto lanes = static_cast<std::size_t>(kernels.lanes);
  const Range all{0, batch.filters};
  const auto per_filter = static_cast<std::size_t>(fits_per_filter(batch, kernels.lanes));
  std::vector<T> fits(per_filter * static_cast<std::size_t>(batch.filters));
  std::vector<T> direct(fits.size());
  kernels.all_fits(batch, all, sample.maps.data(), sample.slopes.data(), nullptr, fits.data());
  kernels.all_fits(batch, all, sample.maps.data(), sample.slopes.data(), sample.distances.data(),
                   direct.data());
  const std::vector<T> inverse(static_cast<std::size_t>(batch.filters), T(0.4));
  std::vector<T> sums(static_cast<std::size_t>(batch.filters) * templates);
  const auto maps = static_cast<std::size_t>(batch.maps());
  std::vector<T> marginals(maps);
  std::vector<T> information(maps);
  std::vector<T> category(maps);
  std::vector<T> spatial(maps);
  if (batch.images > 0) {
    kernels.log_sums(batch, all, fits.data(), inverse.data(), sums.data());
    kernels.log_marginals(batch, all, fits.data(), inverse.data(), sums.data(), T(-0.5),
                          marginals.data());
    kernels.loss_terms(batch, all, fits.data(), inverse.data(), sums.data(), information.data(),
                       category.data(), spatial.data());
  }
  for (int64_t f = 0; f < batch.filters; ++f) {
    const auto filter = static_cast<std::size_t>(f);
    const auto expected = fits_of(sample, f);
    std::vector<double> log_z(templates);
    for (std::size_t mu = 0; mu < templates; ++mu) {
      double sum = 0.0;
      for (const auto& row : expected) sum += std::exp(0.4 * row[mu]);
      log_z[mu] = std::log(sum);
    }
    for (std::size_t image = 0; image < expected.size(); ++image) {
      const auto group = image / lanes;
      const auto lane = image % lanes;
      const double near = sample.rounding * (1.0 - expected[image][cells]);
      double marginal = 0.0;
      double all_mu = 0.0;
      double present = 0.0;
      for (std::size_t mu = 0; mu < templates; ++mu) {
        const auto at = filter * per_filter + (group * templates + mu) * lanes + lane;
        EXPECT_NEAR(static_cast<double>(fits[at]), expected[image][mu], near);
        EXPECT_NEAR(static_cast<double>(direct[at]), expected[image][mu], near);
        const double log_conditional = 0.4 * expected[image][mu] - log_z[mu];
        marginal += std::exp(std::min(log_conditional, -0.5));
        all_mu += std::exp(log_conditional);
        if (mu < cells) present += std::exp(log_conditional);
      }
      double terms[3] = {0.0, 0.0, 0.0};
      const auto prior = 1.0 / static_cast<double>(templates);
      for (std::size_t mu = 0; mu < templates; ++mu) {
        const double log_conditional = 0.4 * expected[image][mu] - log_z[mu];
        const double joint = prior * std::exp(log_conditional);
        terms[0] += joint * (log_conditional - std::log(prior * all_mu));
        if (mu < cells) terms[2] -= joint * (std::log(joint) - std::log(prior * present));
      }
      const double absent = all_mu - present;
      terms[1] =
          -prior * (present * std::log(present / all_mu) + absent * std::log(absent / all_mu));
      const auto map = image * static_cast<std::size_t>(batch.filters) + filter;
      EXPECT_NEAR(static_cast<double>(marginals[map]), std::log(marginal), near);
      EXPECT_NEAR(static_cast<double>(information[map]), terms[0], near);
      EXPECT_NEAR(static_cast<double>(category[map]), terms[1], near);
      EXPECT_NEAR(static_cast<double>(spatial[map]), terms[2], near);
    }
    for (std::size_t mu = 0; mu < templates && batch.images > 0; ++mu)
      EXPECT_NEAR(static_cast<double>(sums[filter * templates + mu]), log_z[mu],
                  sample.rounding * 50.0);
  }
}

// At once what single passes give, with a running mean and without; the last time so steep that
// powers are lost.
template <class T>
void expect_partition(const Sample<T>& sample, const FitKernels<T>& kernels) {
  const auto& batch = sample.batch;
  if (batch.images == 0) return;
  const auto filters = static_cast<std::size_t>(batch.filters);
  const auto templates = filters * static_cast<std::size_t>(batch.cells() + 1);
  const auto images = static_cast<double>(batch.images);
  const double log_prior = -std::log(static_cast<double>(batch.cells() + 1));
  const Range all{0, batch.filters};
  std::vector<T> fits(static_cast<std::size_t>(fits_per_filter(batch, kernels.lanes)) * filters);
  kernels.all_fits(batch, all, sample.maps.data(), sample.slopes.data(), nullptr, fits.data());
  std::vector<T> running(templates, -std::numeric_limits<T>::infinity());
  for (const double steepness : {0.4, 2.0, 40.0}) {
    for (const double memory : {0.0, 0.5}) {
      const std::vector<T> inverse(filters, static_cast<T>(steepness));
      std::vector<T> expected(templates);
      kernels.log_sums(batch, all, fits.data(), inverse.data(), expected.data());
      const double seen = memory > 0.0 ? 0.75 : 1.0;
      const auto before = running;
      const bool remembers = steepness < 40.0;
      for (std::size_t k = 0; k < templates && remembers; ++k) {
        const auto fresh = std::exp(static_cast<double>(expected[k])) * (1.0 - memory) / images;
        const auto old = std::exp(static_cast<double>(before[k])) * memory;
        expected[k] = static_cast<T>(std::log((fresh + old) / seen));
      }
      std::vector<T> marginals[2] = {std::vector<T>(static_cast<std::size_t>(batch.maps())),
                                     std::vector<T>(static_cast<std::size_t>(batch.maps()))};
      std::vector<T> log_z(templates);
      kernels.partition(batch, all, fits.data(), inverse.data(),
                        {remembers ? running.data() : nullptr, memory, seen}, T(3), log_z.data(),
                        marginals[0].data());
      kernels.log_marginals(batch, all, fits.data(), inverse.data(), log_z.data(), T(3),
                            marginals[1].data());
      const double near = sample.rounding * 50.0 * std::max(steepness, 1.0);
      for (std::size_t k = 0; k < templates; ++k)
        EXPECT_NEAR(static_cast<double>(log_z[k]), static_cast<double>(expected[k]), near);
      for (std::size_t i = 0; i < marginals[0].size(); ++i)
        EXPECT_NEAR(static_cast<double>(marginals[0][i]),
                    static_cast<double>(marginals[1][i]) + log_prior, near);
    }
  }
}

template <class T>
void expect_all_fits() {
  for (const auto level : available_levels()) {
    for (const auto& batch : batches()) {
      SCOPED_TRACE(word_of(level) + " " + std::to_string(batch.images) + " x " +
                   std::to_string(batch.filters) + " x " + std::to_string(batch.side));
      const Sample<T> sample(batch);
      expect_fits(sample, fit_kernels<T>(level));
      expect_partition(sample, fit_kernels<T>(level));
    }
  }
}

TEST(FitKernels, DoInFloatWhatTheFormulasSayAtEveryLevelAndSize) {
  expect_all_fits<float>();
}

TEST(FitKernels, DoInDoubleWhatTheFormulasSayAtEveryLevelAndSize) {
  expect_all_fits<double>();
}

// What is no number is to be seen in what comes of it.
template <class T>
void expect_no_numbers() {
  const T none = std::numeric_limits<T>::quiet_NaN();
  for (const auto level : available_levels()) {
    const Sample<T> sample({5, 2, 3});
    const auto& batch = sample.batch;
    const auto& kernels = fit_kernels<T>(level);
    const Range all{0, batch.filters};
    std::vector<T> fits(static_cast<std::size_t>(fits_per_filter(batch, kernels.lanes)) * 2);
    kernels.all_fits(batch, all, sample.maps.data(), sample.slopes.data(), nullptr, fits.data());
    const std::vector<T> inverse(2, T(0.4));
    const std::vector<T> log_z(20, none);
    std::vector<T> marginals(10);
    kernels.log_marginals(batch, all, fits.data(), inverse.data(), log_z.data(), T(3),
                          marginals.data());
    for (const auto one : marginals) EXPECT_TRUE(std::isnan(one));
    std::vector<T> remembered(20, none);
    std::vector<T> seen(20);
    kernels.partition(batch, all, fits.data(), inverse.data(), {remembered.data(), 0.5, 0.75}, T(3),
                      seen.data(), marginals.data());
    for (const auto one : marginals) EXPECT_TRUE(std::isnan(one));
    kernels.weigh_templates(batch, all, fits.data(), inverse.data(), log_z.data(), T(3), nullptr,
                            nullptr, false);
    for (const auto one : fits) EXPECT_TRUE(std::isnan(one));
  }
}

TEST(FitKernels, HideNothingThatIsNoNumber) {
  expect_no_numbers<float>();
  expect_no_numbers<double>();
}

// The smallest beta (parts/part_option_fields.h), cones that reach 20 million cells far, and
// further than an integer can say.
template <class T>
void expect_flat_fits() {
  for (const auto level : available_levels()) {
    for (const auto& batch : {Batch{3, 3, 1}, Batch{9, 4, 8}, Batch{9, 3, 14}}) {
      SCOPED_TRACE(word_of(level) + " x " + std::to_string(batch.side));
      Sample<T> sample(batch);
      const T flat[] = {T(1e-3) / static_cast<T>(batch.side), T(1e-7), T(1e-30)};
      for (std::size_t f = 0; f < sample.slopes.size(); ++f) sample.slopes[f] = flat[f % 3];
      expect_fits(sample, fit_kernels<T>(level));
    }
  }
}

TEST(FitKernels, OfFlatTemplatesAreAsExactAndAsQuickAsOfSteepOnes) {
  expect_flat_fits<float>();
  expect_flat_fits<double>();
}

}  // namespace
}  // namespace partwise::kernels
