#include "partwise/base/error.h"
#include "partwise/base/overheard_fixture.h"
#include "partwise/kernels/batch_fixture.h"
#include "partwise/kernels/fit_kernels.h"
#include "partwise/kernels/gpu_emulation_fixture.h"

#include <gtest/gtest.h>

#include <numeric>

namespace partwise::kernels {
namespace {

TEST(GpuKernels, NormaliseImages) {
  constexpr int kImages = 2;
  constexpr int kCells = 300;
  std::vector<unsigned char> pixels(kImages * 3 * kCells);
  std::iota(pixels.begin(), pixels.end(), static_cast<unsigned char>(7));
  std::vector<float> found(pixels.size(), -1.0F);
  GpuPixels work;
  work.pixels = pixels.data();
  work.normalised = found.data();
  work.images = kImages;
  work.cells = kCells;
  for (int c = 0; c < 3; ++c) {
    work.factor[c] = 0.01F * static_cast<float>(c + 1);
    work.offset[c] = -static_cast<float>(c);
  }
  normalise_on_gpu(work, nullptr);
  for (std::size_t image = 0; image < kImages; ++image) {
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t cell = 0; cell < kCells; ++cell) {
        const auto value = static_cast<float>(pixels[(image * 3 + c) * kCells + cell]);
        EXPECT_FLOAT_EQ(found[(image * kCells + cell) * 3 + c],
                        value * work.factor[c] + work.offset[c]);
      }
    }
  }
}

TEST(GpuKernels, RoundToTheNearestAndAtRandom) {
  EXPECT_EQ(nearest_narrow(1.0F), 0x3f80U);
  EXPECT_EQ(nearest_narrow(1.00390625F), 0x3f80U);  // a half: to the even one
  EXPECT_EQ(nearest_narrow(1.01171875F), 0x3f82U);
  EXPECT_EQ(nearest_narrow(NAN) & 0x7fffU, 0x7fffU);
  const auto at_random = [](Pair pair, unsigned noise) {
    unsigned packed = 0U;
    store_at_random(&packed, pair, noise);
    return packed;
  };
  EXPECT_EQ(at_random({INFINITY, -INFINITY}, ~0U), 0xff807f80U);
  EXPECT_GT(at_random({1.0F, NAN}, ~0U) >> 16 & 0x7fffU, 0x7f80U);
  EXPECT_GT(at_random({NAN, 1.0F}, ~0U) & 0x7fffU, 0x7f80U);
  double sum = 0.0;
  constexpr int kDraws = 1 << 12;
  for (unsigned i = 0; i < kDraws; ++i) {
    const Pair drawn = widen(at_random({1.001F, 1.001F}, mixed(i)));
    sum += static_cast<double>(i % 2 == 0U ? drawn.a : drawn.b) / kDraws;
  }
  // One step of bfloat16 there is 0.0078; the mean of 4096 draws is within 4 of its deviations.
  EXPECT_NEAR(sum, 1.001, 4.0 * 0.0078 * 0.35 / 64.0);
}

// A sample's maps as a GPU has them: in up to three pieces, the first without a bias.
class GpuSample {
 public:
  GpuSample(const Batch& shape, bool narrow) : sample(shape) {
    const auto filters = static_cast<std::size_t>(shape.filters);
    const auto cells = static_cast<std::size_t>(shape.cells());
    for (std::size_t f = 0; f < filters; ++f) bias_.push_back(0.1F * static_cast<float>(f));
    maps.narrow = narrow;
    maps.images = static_cast<int>(shape.images);
    maps.filters = static_cast<int>(filters);
    maps.side = static_cast<int>(shape.side);
    for (std::size_t first = 0, count = 0; first < filters; first += count) {
      count = maps.pieces < 2 ? std::min<std::size_t>(filters - first, 2) : filters - first;
      auto& values = values_[maps.pieces];
      for (std::size_t row = 0; row < sample.maps.size() / filters; ++row) {
        for (std::size_t f = first; f < first + count; ++f)
          values.push_back(value_of(row / cells, f, row % cells, maps.pieces > 0));
      }
      for (const float value : values)
        narrowed_[maps.pieces].push_back(static_cast<uint16_t>(nearest_narrow(value)));
      maps.values[maps.pieces] =
          narrow ? static_cast<const void*>(narrowed_[maps.pieces].data()) : values.data();
      if (maps.pieces > 0) maps.biases[maps.pieces] = bias_.data() + first;
      maps.filters_of[maps.pieces++] = static_cast<int>(count);
    }
  }
  GpuSample(const GpuSample&) = delete;
  GpuSample& operator=(const GpuSample&) = delete;

  Sample<float> sample;
  GpuMaps maps;

 private:
  // What becomes the map's number, or next to it, which the map then is.
  float value_of(std::size_t image, std::size_t filter, std::size_t cell, bool biased) {
    const auto at =
        (image * bias_.size() + filter) * static_cast<std::size_t>(sample.batch.cells()) + cell;
    float& x = sample.maps[at];
    const float bias = biased ? bias_[filter] : 0.0F;
    float value = (x > 0.0F ? x : -std::abs(sample.gradient[at])) - bias;
    if (maps.narrow) value = __int_as_float(static_cast<int>(nearest_narrow(value) << 16));
    x = std::max(value + bias, 0.0F);
    return value;
  }

  std::vector<float> bias_;
  std::vector<float> values_[kGpuSources];
  std::vector<uint16_t> narrowed_[kGpuSources];
};

// What is asked of both, as both lay it out: images, templates and filters in another order.
struct Fitted {
  const Batch& batch;
  std::size_t templates() const { return static_cast<std::size_t>(batch.cells() + 1); }
  std::size_t filters() const { return static_cast<std::size_t>(batch.filters); }
  std::size_t images() const { return static_cast<std::size_t>(batch.images); }
  std::vector<float> of_templates() const { return std::vector<float>(templates() * filters()); }
  std::vector<float> of_maps() const { return std::vector<float>(images() * filters()); }
  std::vector<float> turned(const std::vector<float>& on_gpu) const {  // [templates, filters]
    auto result = of_templates();
    for (std::size_t mu = 0; mu < templates(); ++mu)
      for (std::size_t f = 0; f < filters(); ++f)
        result[f * templates() + mu] = on_gpu[mu * filters() + f];
    return result;
  }
};

void expect_near(const std::vector<float>& found, const std::vector<float>& expected, double near) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto size = std::max(1.0F, std::abs(expected[i]));
    ASSERT_NEAR(found[i], expected[i], near * static_cast<double>(size)) << i;
  }
}

void expect_fits_on_gpu(const GpuSample& at, bool round) {
  const auto& sample = at.sample;
  const auto& batch = sample.batch;
  const Fitted fitted{batch};
  const auto& kernels = fit_kernels<float>(Level::portable);
  const Range all{0, batch.filters};
  const auto images = fitted.images();
  const auto templates = fitted.templates();
  const auto filters = fitted.filters();
  auto distances = sample.distances;
  for (std::size_t mu = 0; mu + 1 < templates && round; ++mu)
    for (std::size_t cell = 0; cell + 1 < templates; ++cell) {
      const auto side = static_cast<std::size_t>(batch.side);
      distances[mu * (templates - 1) + cell] =
          std::hypot(static_cast<float>(mu / side) - static_cast<float>(cell / side),
                     static_cast<float>(mu % side) - static_cast<float>(cell % side));
    }
  const float* far = round ? distances.data() : nullptr;
  // Sums of some hundred numbers, and sums of hundreds of their powers.
  const double near = 3.0 * sample.rounding;
  const GpuTemplates shape{sample.slopes.data(), round};
  const std::vector<float> inverse(filters, 10.0F / static_cast<float>(batch.cells()));
  const float most = -0.5F;

  std::vector<float> fits(filters *
                          static_cast<std::size_t>(fits_per_filter(batch, kernels.lanes)));
  kernels.all_fits(batch, all, sample.maps.data(), sample.slopes.data(), far, fits.data());
  std::vector<float> own_fits(images * templates * filters, NAN);
  all_fits_on_gpu({at.maps, shape, own_fits.data()}, nullptr);
  const auto at_both = [&](std::size_t image, std::size_t mu, std::size_t f) {
    const auto lanes = static_cast<std::size_t>(kernels.lanes);
    const auto group = image / lanes;
    return f * static_cast<std::size_t>(fits_per_filter(batch, kernels.lanes)) +
           (group * templates + mu) * lanes + image % lanes;
  };
  for (std::size_t image = 0; image < images; ++image)
    for (std::size_t mu = 0; mu < templates; ++mu)
      for (std::size_t f = 0; f < filters; ++f) {
        const float mass = -fits[at_both(image, templates - 1, f)];
        ASSERT_NEAR(own_fits[(image * templates + mu) * filters + f], fits[at_both(image, mu, f)],
                    near * (1.0 + static_cast<double>(mass)));
      }

  GpuLikelihood work;
  work.images = static_cast<int>(images);
  work.filters = static_cast<int>(filters);
  work.cells = static_cast<int>(templates - 1);
  work.fits = own_fits.data();
  work.inverse = inverse.data();
  work.most = most;
  auto log_sums = fitted.of_templates();
  kernels.log_sums(batch, all, fits.data(), inverse.data(), log_sums.data());
  auto own_log_sums = fitted.of_templates();
  work.log_sums = own_log_sums.data();
  log_sums_on_gpu(work, nullptr);
  expect_near(fitted.turned(own_log_sums), log_sums, near);

  work.log_partition = own_log_sums.data();
  auto marginals = fitted.of_maps();
  kernels.log_marginals(batch, all, fits.data(), inverse.data(), log_sums.data(), most,
                        marginals.data());
  auto own_marginals = fitted.of_maps();
  work.log_marginals = own_marginals.data();
  log_marginals_on_gpu(work, nullptr);
  expect_near(own_marginals, marginals, near);

  std::vector<float> terms(3 * images * filters);
  const auto term = [&](std::size_t i) { return terms.data() + i * images * filters; };
  kernels.loss_terms(batch, all, fits.data(), inverse.data(), log_sums.data(), term(0), term(1),
                     term(2));
  std::vector<float> own_terms(terms.size());
  work.terms = own_terms.data();
  loss_terms_on_gpu(work, nullptr);
  expect_near(own_terms, terms, near);

  auto gains = fitted.of_templates();
  kernels.gain_sums(batch, all, fits.data(), inverse.data(), log_sums.data(), marginals.data(),
                    gains.data());
  auto own_gains = fitted.of_templates();
  work.gain_sums = own_gains.data();
  gain_sums_on_gpu(work, nullptr);
  expect_near(fitted.turned(own_gains), gains, near);

  for (const bool with_gains : {false, true}) {
    auto weights = fits;
    kernels.weigh_templates(batch, all, weights.data(), inverse.data(), log_sums.data(), most,
                            with_gains ? marginals.data() : nullptr,
                            with_gains ? gains.data() : nullptr, !with_gains);
    std::vector<float> mixtures(sample.maps.size());
    kernels.mix(batch, all, weights.data(), sample.slopes.data(), far, sample.factor.data(),
                mixtures.data());
    float largest = 1.0F;
    for (const float value : mixtures) largest = std::max(largest, std::abs(value));
    std::vector<float> dense(mixtures.size(), NAN);
    auto sizes = fitted.of_maps();
    auto along = fitted.of_maps();
    GpuMixture mixture;
    mixture.maps = at.maps;
    mixture.templates = shape;
    mixture.fits = own_fits.data();
    mixture.inverse = inverse.data();
    mixture.log_partition = own_log_sums.data();
    mixture.most = most;
    mixture.log_marginals = with_gains ? own_marginals.data() : nullptr;
    mixture.gains = with_gains ? own_gains.data() : nullptr;
    mixture.ignore_misfits = !with_gains;
    mixture.factor = sample.factor.data();
    mixture.dense = dense.data();
    mixture.sizes = sizes.data();
    mixture.along = along.data();
    mix_on_gpu(mixture, nullptr);
    for (std::size_t map = 0; map < images * filters; ++map) {
      double square = 0.0;
      double dot = 0.0;
      for (std::size_t cell = 0; cell + 1 < templates; ++cell) {
        const auto value = mixtures[map * (templates - 1) + cell];
        const auto image = map / filters;
        const auto own = dense[(image * (templates - 1) + cell) * filters + map % filters];
        ASSERT_NEAR(own, value, near * static_cast<double>(largest));
        square += static_cast<double>(own * own);
        dot += static_cast<double>(own * sample.maps[map * (templates - 1) + cell]);
      }
      EXPECT_NEAR(sizes[map], std::sqrt(square), near * (1.0 + std::sqrt(square)));
      EXPECT_NEAR(along[map], dot, near * (1.0 + std::abs(dot)));
    }
  }
}

TEST(GpuKernels, FitAllTemplatesAsTheProcessorDoes) {
  for (const auto& batch :
       {Batch{1, 2, 1}, Batch{9, 10, 3}, Batch{17, 6, 7}, Batch{3, 36, 8}, Batch{9, 4, 13},
        Batch{2, 34, 14}, Batch{2, 10, 15}, Batch{1, 4, 29}, Batch{1, 12, 32}}) {
    for (const bool narrow : {false, true}) {
      SCOPED_TRACE(std::to_string(batch.filters) + " x " + std::to_string(batch.side));
      GpuSample at(batch, narrow);
      at.sample.slopes.front() = 1e-7F;  // further than all cells
      expect_fits_on_gpu(at, narrow);
    }
  }
}

// Of look, foreign fits, norms and push, one after the other.
template <class Shape>
std::vector<float> found_by(const GpuSample& at) {
  const auto& sample = at.sample;
  const auto maps = static_cast<std::size_t>(sample.batch.maps());
  const auto cells = static_cast<std::size_t>(sample.batch.cells()) * maps;
  std::vector<std::vector<float>> numbers(16, std::vector<float>(maps, NAN));
  std::vector<int> peaks(maps);
  std::vector<int> strongest(maps);
  std::vector<typename Shape::Raw> masked(cells / 2);
  std::vector<typename Shape::Raw> task(cells / 2);
  std::vector<typename Shape::Raw> gradient(cells / 2);
  for (std::size_t i = 0; i < task.size(); ++i)
    store(&task[i], {sample.gradient[2 * i], sample.gradient[2 * i + 1]});
  GpuLook look;
  look.maps = at.maps;
  look.templates.slopes = sample.slopes.data();
  look.masked = masked.data();
  look.peaks = peaks.data();
  look.strongest = strongest.data();
  look.tops = numbers[0].data();
  look.masses = numbers[1].data();
  look.squares = numbers[2].data();
  look.fits = numbers[3].data();
  look.spreads = numbers[4].data();
  launch_rows<Shape>(look_kernel<Shape>, look, nullptr);
  GpuForeign foreign;
  foreign.maps = at.maps;
  foreign.templates = look.templates;
  foreign.peaks = peaks.data();
  foreign.foreign = numbers[5].data();
  foreign.images = at.maps.images;
  launch_rows<Shape>(foreign_kernel<Shape>, foreign, nullptr);
  std::vector<int64_t> labels;
  std::vector<int> category;
  for (int i = 0; i < at.maps.images; ++i) labels.push_back(i % 2);
  for (int f = 0; f < at.maps.filters; ++f) category.push_back(f % 3);
  const int64_t seed = 7;
  GpuPush push;
  push.maps = at.maps;
  push.templates = look.templates;
  push.gradient = task.data();
  push.through_relu = true;
  push.peaks = peaks.data();
  push.strongest = strongest.data();
  push.constant = sample.constant.data();
  push.pull = sample.pull.data();
  push.scaling = sample.scaling.data();
  push.raise = sample.constant.data();
  push.need = sample.factor.data();
  push.labels = labels.data();
  push.category = category.data();
  push.task_squares = numbers[6].data();
  push.push_squares = numbers[7].data();
  push.lift_squares = numbers[8].data();
  push.factor = const_cast<float*>(sample.factor.data());
  push.lift = const_cast<float*>(sample.slopes.data());
  push.seed = &seed;
  push.bias_sums = numbers[9].data();
  std::vector<std::vector<typename Shape::Raw>> pieces;
  for (int piece = 0; piece < at.maps.pieces; ++piece)
    pieces.emplace_back(cells / static_cast<std::size_t>(at.maps.filters) *
                        static_cast<std::size_t>(at.maps.filters_of[piece] / 2));
  for (std::size_t piece = 0; piece < pieces.size(); ++piece)
    push.gradients[piece] = pieces[piece].data();
  launch_rows<Shape>(norms_kernel<Shape, Adds::weighted>, push, nullptr);
  launch_rows<Shape>(push_kernel<Shape, Adds::weighted>, push, nullptr);
  std::vector<float> found(peaks.begin(), peaks.end());
  found.insert(found.end(), strongest.begin(), strongest.end());
  for (std::size_t i = 0; i < 10; ++i)
    found.insert(found.end(), numbers[i].begin(), numbers[i].end());
  pieces.push_back(masked);
  for (const auto& piece : pieces) {
    for (const auto& raw : piece) {
      const Pair pair = widen(raw);
      found.push_back(pair.a);
      found.push_back(pair.b);
    }
  }
  return found;
}

template <bool kNarrow, int kSide>
void expect_alike_with_any_rows() {
  const GpuSample at({3, 70, kSide}, kNarrow);
  const auto one = found_by<Shape<kNarrow, kSide, true, 1>>(at);
  for (const float number : one) ASSERT_FALSE(std::isnan(number));
  // Sums in another order; so random rounding of what is beside a step of bfloat16 may differ.
  const double near = kNarrow ? 0.01 : 1e-5;
  expect_near(found_by<Shape<kNarrow, kSide, true, 2>>(at), one, near);
  expect_near(found_by<Shape<kNarrow, kSide, true, 4>>(at), one, near);
}

TEST(GpuKernels, FindTheSameWithAnyNumberOfRowsPerThread) {
  expect_alike_with_any_rows<true, 7>();
  expect_alike_with_any_rows<true, 13>();
  expect_alike_with_any_rows<true, 14>();
  expect_alike_with_any_rows<false, 7>();
  expect_alike_with_any_rows<false, 13>();
  expect_alike_with_any_rows<false, 14>();
}

// As a GPU older than those the program was compiled for.
TEST(GpuKernels, AreNoneForAGpuThatCannotRunThemWhichIsSaidOnce) {
  auto table = kGpuTable;
  table.refusal = [](int device) {
    return std::string(device == 1 ? "compute capability 7.0" : "");
  };
  const Overheard overheard;
  const auto* before = use_gpu_kernels(&table);
  for (int times = 0; times < 3; ++times) {
    EXPECT_EQ(gpu_kernels(0), &table);
    EXPECT_EQ(gpu_kernels(1), nullptr);
    EXPECT_EQ(gpu_kernels(-1), nullptr);  // a tensor of the CPU
  }
  use_gpu_kernels(before);
  ASSERT_EQ(overheard.lines().size(), 1U);
  EXPECT_TRUE(
      overheard.lines()[0].starts_with("cuda:1: this build has no kernels that run there "
                                       "(compute capability 7.0)"))
      << overheard.lines()[0];
}

TEST(GpuKernels, ThatDoNotStartAreAnErrorWithPlaceAndRemedy) {
  try {
    launch_failed(1, "out of resources");
    FAIL() << "went on";
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_TRUE(line.starts_with("cuda:1: a kernel did not start (out of resources)")) << line;
    EXPECT_NE(line.find("--device cpu"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace partwise::kernels
