#include "partwise/parts/mask.h"

#include "partwise/parts/templates.h"
#include "partwise/tensors/gradient_check_fixture.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::parts {
namespace {

Tensor masked(const Tensor& maps, const PartOptions& options = {}) {
  const auto templates = unit_templates(maps.size(2), options).to(maps.scalar_type());
  return maps * masks_at(peak_cells(maps, options), templates);
}

TEST(Mask, LeavesThePeakWhereAndAsHighAsItWas) {
  torch::manual_seed(1);
  for (const int64_t n : {3, 6, 7, 13, 14, 17}) {
    const auto maps = torch::rand({4, 5, n, n}, torch::kFloat64);
    const auto result = masked(maps);
    EXPECT_TRUE(torch::equal(peak_cells(result, {}), peak_cells(maps, {}))) << n;
    EXPECT_TRUE(torch::equal(result.amax({2, 3}), maps.amax({2, 3}))) << n;
  }
}

TEST(Mask, SilencesWhatIsFarFromThePeak) {
  auto maps = torch::ones({1, 1, 6, 6}, torch::kFloat64);
  maps[0][0][1][1] = 2.0;
  const auto result = masked(maps);
  EXPECT_EQ(result[0][0][1][1].item<double>(), 2.0);
  EXPECT_NEAR(result[0][0][1][2].item<double>(), 1.0 - 4.0 / 6.0, 1e-12);
  EXPECT_EQ(result[0][0][5][5].item<double>(), 0.0);
}

TEST(Mask, KeepsASilentMapSilentWithAFiniteGradient) {
  auto maps = torch::zeros({1, 2, 5, 5}).requires_grad_();
  masked(maps).sum().backward();
  EXPECT_TRUE(maps.grad().isfinite().all().item<bool>());
  EXPECT_EQ(masked(maps.detach()).abs().sum().item<float>(), 0.0F);
}

TEST(Mask, GradientMatchesFiniteDifferences) {
  torch::manual_seed(7);
  const auto maps = torch::rand({2, 3, 4, 4}, torch::kFloat64);
  // differences of a square at step 1e-6 in float64: 1e-8 is rounding, not error
  EXPECT_LT(tensors::gradient_error([](const Tensor& x) { return masked(x).square().sum(); }, maps),
            1e-8);
}

TEST(Mask, FlippedImagesGiveFlippedMaps) {
  torch::manual_seed(3);
  const auto maps = torch::rand({2, 3, 7, 7}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(masked(maps.flip({3})), masked(maps).flip({3})));
}

TEST(Peak, ByCentroidIsTheRoundedCentreOfMass) {
  PartOptions options;
  options.peak = Peak::centroid;
  auto maps = torch::zeros({1, 2, 5, 5}, torch::kFloat64);
  maps[0][0][0][4] = 1.0;
  maps[0][0][4][4] = 3.0;  // centre of mass (3, 4)
  EXPECT_EQ(peak_cells(maps, options)[0][0].item<int64_t>(), 3 * 5 + 4);
  EXPECT_EQ(peak_cells(maps, options)[0][1].item<int64_t>(), 2 * 5 + 2);  // silent: the middle
}

TEST(Peak, ByArgmaxIsTheFirstOfEquals) {
  auto maps = torch::zeros({1, 1, 4, 4});
  maps[0][0][1][2] = 1.0;
  maps[0][0][3][0] = 1.0;
  EXPECT_EQ(peak_cells(maps, {}).item<int64_t>(), 6);
  EXPECT_EQ(peak_cells(torch::zeros({1, 1, 4, 4}), {}).item<int64_t>(), 0);
}

// 1 and 1.001 are the same bfloat16.
TEST(Peak, OfEqualsInAHalfTypeIsTheOneWithMostAround) {
  auto maps = torch::zeros({1, 1, 6, 6});
  maps[0][0][0][0] = 1.0;
  maps[0][0][4][3] = 1.001;
  maps[0][0][4][4] = 0.5;
  EXPECT_EQ(peak_cells(maps.to(torch::kBFloat16), {}).item<int64_t>(), 4 * 6 + 3);
  EXPECT_EQ(peak_cells(maps, {}).item<int64_t>(), 4 * 6 + 3);
  EXPECT_EQ(peak_cells(torch::zeros({1, 1, 6, 6}, torch::kBFloat16), {}).item<int64_t>(), 0);
}

}  // namespace
}  // namespace partwise::parts
