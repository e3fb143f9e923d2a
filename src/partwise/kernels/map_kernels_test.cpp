#include "partwise/kernels/map_kernels.h"

#include "partwise/kernels/batch_fixture.h"

#include <gtest/gtest.h>

namespace partwise::kernels {
namespace {

template <class T>
void expect_looks(const Sample<T>& sample, const MapKernels<T>& kernels, bool centroid) {
  const auto& batch = sample.batch;
  const auto size = static_cast<std::size_t>(batch.maps());
  std::vector<int64_t> peaks(size);
  std::vector<int64_t> strongest(size);
  std::vector<T> tops(size);
  std::vector<T> masses(size);
  std::vector<T> squares(size);
  kernels.look(batch, {0, batch.maps()}, sample.maps.data(), centroid,
               {peaks.data(), strongest.data(), tops.data(), masses.data(), squares.data()});
  for (int64_t map = 0; map < batch.maps(); ++map) {
    const auto i = static_cast<std::size_t>(map);
    const auto x = sample.map(map);
    int64_t best = 0;
    double mass = 0.0;
    double square = 0.0;
    double down = 0.0;
    double across = 0.0;
    for (int64_t cell = 0; cell < batch.cells(); ++cell) {
      const auto value = x[static_cast<std::size_t>(cell)];
      if (value > x[static_cast<std::size_t>(best)]) best = cell;
      mass += value;
      square += value * value;
      down += value * static_cast<double>(cell / batch.side);
      across += value * static_cast<double>(cell % batch.side);
    }
    EXPECT_EQ(strongest[i], best);
    EXPECT_EQ(static_cast<double>(tops[i]), x[static_cast<std::size_t>(best)]);
    EXPECT_NEAR(static_cast<double>(masses[i]), mass, sample.rounding * (1.0 + mass));
    EXPECT_NEAR(static_cast<double>(squares[i]), square, sample.rounding * (1.0 + square));
    if (!centroid) {
      EXPECT_EQ(peaks[i], best);
      continue;
    }
    const double middle = static_cast<double>(batch.side - 1) / 2.0;
    const double row = mass > 0.0 ? down / mass : middle;
    const double column = mass > 0.0 ? across / mass : middle;
    // Half a cell, and what is lost in rounding before it is rounded.
    EXPECT_NEAR(static_cast<double>(peaks[i] / batch.side), row, 0.5 + 1e-4);
    EXPECT_NEAR(static_cast<double>(peaks[i] % batch.side), column, 0.5 + 1e-4);
  }
}

template <class T>
void expect_sums(const Sample<T>& sample, const MapKernels<T>& kernels) {
  const auto& batch = sample.batch;
  const Range all{0, batch.maps()};
  const auto size = static_cast<std::size_t>(batch.maps());
  std::vector<T> weighed(size);
  std::vector<T> fits(size);
  std::vector<T> squares(size);
  std::vector<T> lifts(size);
  std::vector<T> wanted(size, T(1));
  if (size > 0) wanted[0] = T(0);
  kernels.weigh(batch, all, sample.maps.data(), sample.peaks.data(), sample.distances.data(),
                weighed.data());
  kernels.fit(batch, all, sample.maps.data(), sample.templates(), fits.data());
  kernels.dot(batch, all, sample.maps.data(), sample.maps.data(), squares.data());
  kernels.lift_squares(batch, all, sample.maps.data(), sample.templates(), wanted.data(),
                       lifts.data());
  for (int64_t map = 0; map < batch.maps(); ++map) {
    const auto i = static_cast<std::size_t>(map);
    const auto x = sample.map(map);
    double sum = 0.0;
    double fit = 0.0;
    double square = 0.0;
    double lift = 0.0;
    for (int64_t cell = 0; cell < batch.cells(); ++cell) {
      const double value = x[static_cast<std::size_t>(cell)];
      const double bump = std::max(sample.unit(map, cell), 0.0);
      sum += value * sample.distance(sample.peaks[i], cell);
      fit += value * sample.unit(map, cell);
      square += value * value;
      if (map > 0 && (value > 0.0 || cell == sample.peaks[i])) lift += bump * bump;
    }
    const double near = sample.rounding * (1.0 + sum + square);
    EXPECT_NEAR(static_cast<double>(weighed[i]), sum, near);
    EXPECT_NEAR(static_cast<double>(fits[i]), fit, near);
    EXPECT_NEAR(static_cast<double>(squares[i]), square, near);
    EXPECT_NEAR(static_cast<double>(lifts[i]), lift, sample.rounding * (1.0 + lift));
  }
}

// In one pass over both ends of the batch, what single passes give.
template <class T>
void expect_pairs(const Sample<T>& sample, const MapKernels<T>& kernels, T share) {
  const auto& batch = sample.batch;
  const auto size = static_cast<std::size_t>(batch.maps());
  const Range all{0, batch.maps()};
  std::vector<T> masked[2] = {std::vector<T>(sample.maps.size()),
                              std::vector<T>(sample.maps.size())};
  std::vector<T> own[2] = {std::vector<T>(size), std::vector<T>(size)};
  std::vector<T> foreign[2] = {std::vector<T>(size), std::vector<T>(size)};
  kernels.mask(batch, all, sample.maps.data(), sample.templates(), share, masked[0].data());
  kernels.fit(batch, all, sample.maps.data(), sample.templates(), own[0].data());
  const std::vector<int64_t> peaks(sample.peaks.rbegin(), sample.peaks.rend());
  const std::vector<T> slopes(sample.slopes.rbegin(), sample.slopes.rend());
  kernels.fit(batch, all, sample.maps.data(),
              {peaks.data(), slopes.data(), sample.distances.data()}, foreign[0].data());
  kernels.mask_pairs(batch, {0, (batch.maps() + 1) / 2}, sample.maps.data(), sample.templates(),
                     share, {own[1].data(), foreign[1].data()}, masked[1].data());
  EXPECT_EQ(masked[0], masked[1]);
  for (std::size_t i = 0; i < size; ++i) {
    const auto near = sample.rounding * (1.0 + static_cast<double>(batch.cells()));
    EXPECT_NEAR(static_cast<double>(own[1][i]), static_cast<double>(own[0][i]), near);
    EXPECT_NEAR(static_cast<double>(foreign[1][i]), static_cast<double>(foreign[0][i]), near);
  }
}

template <class T>
void expect_push(const Sample<T>& sample, const MapKernels<T>& kernels, T share) {
  const auto& batch = sample.batch;
  const Range all{0, batch.maps()};
  const auto size = static_cast<std::size_t>(batch.maps());
  const auto cells = static_cast<std::size_t>(batch.cells());
  const Push<T> push{sample.templates(),     sample.constant.data(), sample.pull.data(),
                     sample.scaling.data(),  sample.factor.data(),   sample.peaks.data(),
                     sample.constant.data(), sample.pull.data()};
  std::vector<T> task(size);
  std::vector<T> own(size);
  std::vector<T> closed(size);
  std::vector<T> added(size * cells);
  std::vector<T> masked(size * cells);
  kernels.mask(batch, all, sample.gradient.data(), sample.templates(), share, masked.data());
  kernels.norms(batch, all, sample.maps.data(), sample.gradient.data(), push, share, task.data(),
                own.data());
  kernels.push(batch, all, sample.maps.data(), sample.gradient.data(), push, share, added.data(),
               closed.data());
  kernels.lift(batch, all, sample.maps.data(), push, added.data(), closed.data());
  for (int64_t map = 0; map < batch.maps(); ++map) {
    const auto i = static_cast<std::size_t>(map);
    const auto f = static_cast<std::size_t>(map % batch.filters);
    const auto x = sample.map(map);
    double task_square = 0.0;
    double own_square = 0.0;
    for (int64_t cell = 0; cell < batch.cells(); ++cell) {
      const auto c = static_cast<std::size_t>(cell);
      const double value = x[c];
      const double unit = sample.unit(map, cell);
      const double bump = std::max(unit, 0.0);
      const double in_force = 1.0 - static_cast<double>(share) + static_cast<double>(share) * bump;
      const double t = static_cast<double>(sample.gradient[i * cells + c]) * in_force;
      const double rule = value > 0.0 ? static_cast<double>(sample.constant[i]) +
                                            static_cast<double>(sample.pull[i]) * unit
                                      : 0.0;
      const double p = rule - static_cast<double>(sample.scaling[f]) * value;
      task_square += t * t;
      own_square += p * p;
      const bool here = cell == sample.peaks[i];
      const double raised =
          (here ? static_cast<double>(sample.constant[i]) : 0.0) -
          (here || value > 0.0 ? static_cast<double>(sample.pull[i]) * bump : 0.0);
      EXPECT_NEAR(static_cast<double>(masked[i * cells + c]), t, sample.rounding * 8.0);
      EXPECT_NEAR(static_cast<double>(added[i * cells + c]),
                  t + static_cast<double>(sample.factor[f]) * p + raised, sample.rounding * 64.0);
      if (here) {
        EXPECT_NEAR(static_cast<double>(closed[i]), value > 0.0 ? 0.0 : raised,
                    sample.rounding * 8.0);
      }
    }
    EXPECT_NEAR(static_cast<double>(task[i]), task_square, sample.rounding * (1.0 + task_square));
    EXPECT_NEAR(static_cast<double>(own[i]), own_square, sample.rounding * (1.0 + own_square));
  }
}

// Written out cell by cell, the same.
template <class T>
void expect_dense(const Sample<T>& sample, const MapKernels<T>& kernels) {
  const auto& batch = sample.batch;
  const Range all{0, batch.maps()};
  const auto size = static_cast<std::size_t>(batch.maps());
  std::vector<T> dense;
  for (int64_t map = 0; map < batch.maps(); ++map) {
    const auto i = static_cast<std::size_t>(map);
    for (int64_t cell = 0; cell < batch.cells(); ++cell)
      dense.push_back(sample.constant[i] + sample.pull[i] * static_cast<T>(sample.unit(map, cell)));
  }
  Push<T> push{sample.templates(),    sample.constant.data(), sample.pull.data(),
               sample.scaling.data(), sample.factor.data(),   sample.peaks.data()};
  std::vector<T> task(size);
  std::vector<T> closed(size);
  std::vector<T> squares[2] = {std::vector<T>(size), std::vector<T>(size)};
  std::vector<T> added[2] = {std::vector<T>(sample.maps.size()),
                             std::vector<T>(sample.maps.size())};
  for (const int written_out : {0, 1}) {
    push.dense = written_out == 1 ? dense.data() : nullptr;
    kernels.norms(batch, all, sample.maps.data(), sample.gradient.data(), push, T(1), task.data(),
                  squares[written_out].data());
    kernels.push(batch, all, sample.maps.data(), sample.gradient.data(), push, T(1),
                 added[written_out].data(), closed.data());
  }
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_NEAR(static_cast<double>(squares[0][i]), static_cast<double>(squares[1][i]),
                sample.rounding * (1.0 + static_cast<double>(squares[0][i])));
  }
  for (std::size_t i = 0; i < added[0].size(); ++i)
    EXPECT_NEAR(static_cast<double>(added[0][i]), static_cast<double>(added[1][i]),
                sample.rounding * 8.0);
}

template <class T>
void expect_all() {
  for (const auto level : available_levels()) {
    const auto& kernels = map_kernels<T>(level);
    for (const auto& batch : batches()) {
      SCOPED_TRACE(word_of(level) + " " + std::to_string(batch.images) + " x " +
                   std::to_string(batch.filters) + " x " + std::to_string(batch.side));
      const Sample<T> sample(batch);
      expect_looks(sample, kernels, false);
      expect_looks(sample, kernels, true);
      expect_sums(sample, kernels);
      expect_pairs(sample, kernels, T(1));
      expect_pairs(sample, kernels, T(0.25));
      expect_push(sample, kernels, T(1));
      expect_push(sample, kernels, T(0.25));
      expect_dense(sample, kernels);
    }
  }
}

TEST(MapKernels, DoInFloatWhatTheFormulasSayAtEveryLevelAndSize) {
  expect_all<float>();
}

TEST(MapKernels, DoInDoubleWhatTheFormulasSayAtEveryLevelAndSize) {
  expect_all<double>();
}

// Whoever hands over maps that are not what they should be gets a wrong cell, not one outside.
TEST(MapKernels, CentresOfAnyNumbersAreCells) {
  Sample<float> sample({16, 16, 14});
  Random random(3);
  for (auto& x : sample.maps) x = static_cast<float>(random.uniform(-1.0, 1.0));
  sample.maps[0] = 3e37F;
  sample.maps[195] = 3e38F;
  sample.maps[400] = std::numeric_limits<float>::infinity();
  sample.maps[600] = std::numeric_limits<float>::quiet_NaN();
  const auto size = static_cast<std::size_t>(sample.batch.maps());
  for (const auto level : available_levels()) {
    std::vector<int64_t> peaks(size);
    std::vector<int64_t> strongest(size);
    std::vector<float> tops(size);
    std::vector<float> masses(size);
    std::vector<float> squares(size);
    map_kernels<float>(level).look(
        sample.batch, {0, sample.batch.maps()}, sample.maps.data(), /*centroid=*/true,
        {peaks.data(), strongest.data(), tops.data(), masses.data(), squares.data()});
    for (const auto peak : peaks) {
      EXPECT_GE(peak, 0);
      EXPECT_LT(peak, sample.batch.cells());
    }
  }
}

// Two threads that share a batch write what one would.
TEST(MapKernels, TouchNoMapOutsideTheirRange) {
  const Sample<float> sample({3, 5, 7});
  const auto size = static_cast<std::size_t>(sample.batch.maps() * sample.batch.cells());
  for (const auto level : available_levels()) {
    const auto& kernels = map_kernels<float>(level);
    std::vector<float> whole(size, -1.0F);
    std::vector<float> part(size, -1.0F);
    kernels.mask(sample.batch, {0, 15}, sample.maps.data(), sample.templates(), 1.0F, whole.data());
    kernels.mask(sample.batch, {4, 9}, sample.maps.data(), sample.templates(), 1.0F, part.data());
    for (std::size_t i = 0; i < size; ++i) {
      const auto map = static_cast<int64_t>(i) / sample.batch.cells();
      EXPECT_EQ(part[i], map >= 4 && map < 9 ? whole[i] : -1.0F);
    }
    std::vector<float> own(15);
    std::vector<float> foreign(15);
    std::vector<float> pairs(size, -1.0F);
    const auto mask_pairs = [&](Range range) {
      kernels.mask_pairs(sample.batch, range, sample.maps.data(), sample.templates(), 1.0F,
                         {own.data(), foreign.data()}, pairs.data());
    };
    mask_pairs({2, 5});
    for (std::size_t i = 0; i < size; ++i) {
      const auto map = static_cast<int64_t>(i) / sample.batch.cells();
      const auto from_end = std::min(map, 14 - map);
      EXPECT_EQ(pairs[i], from_end >= 2 && from_end < 5 ? whole[i] : -1.0F);
    }
    mask_pairs({0, 2});
    mask_pairs({5, 8});
    EXPECT_EQ(pairs, whole);
  }
}

}  // namespace
}  // namespace partwise::kernels
