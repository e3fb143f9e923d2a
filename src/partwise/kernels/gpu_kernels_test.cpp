#include "partwise/base/error.h"
#include "partwise/base/overheard_fixture.h"
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
  EXPECT_EQ(random_narrow(INFINITY, 0xffffU), 0x7f80U);
  EXPECT_GT(random_narrow(NAN, 0xffffU) & 0x7fffU, 0x7f80U);
  double sum = 0.0;
  constexpr int kDraws = 1 << 12;
  for (unsigned i = 0; i < kDraws; ++i) {
    const unsigned bits = random_narrow(1.001F, mixed(i) & 0xffffU);
    sum += static_cast<double>(__int_as_float(static_cast<int>(bits << 16))) / kDraws;
  }
  // One step of bfloat16 there is 0.0078; the mean of 4096 draws is within 4 of its deviations.
  EXPECT_NEAR(sum, 1.001, 4.0 * 0.0078 * 0.35 / 64.0);
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
