#include "partwise/parts/memory.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::parts {
namespace {

// A checkpoint of an older program, read into this one's layer.
TEST(Memory, CompletesWhatAnOlderProgramRemembered) {
  std::map<std::string, Tensor> state{{"a.peak_scale", torch::tensor({2.0F})},
                                      {"a.scale_seen", torch::tensor({0.5F})},
                                      {"a.squared_spread", torch::tensor({2.0F})}};
  Memory::complete(state, "a.");
  // spread sqrt(2 / 0.5) = 2 cells
  EXPECT_NEAR((state.at("a.fit_spread") / state.at("a.fit_sum")).item<double>(), 2.0, 1e-6);
  EXPECT_NEAR(state.at("a.peak_all").item<double>(), 4.0, 1e-6);
}

TEST(Memory, FindsAFiltersCategoryByItsPeaksUnderTheReleaseAndByItsSumsUnderThePaper) {
  auto maps = torch::zeros({2, 1, 4, 4});
  maps[0][0][1][2] = 3.0;  // of category 0: the higher peak, the smaller sum
  maps[1][0].fill_(1.0);
  const auto category = torch::tensor({0, 1}, torch::kInt64);
  const auto found = [&](Method method) {
    const auto options = method_options(method);
    Memory memory(1, 4, 2, options);
    memory.see(maps, look_at(maps, maps, options), category, {});
    return memory.filter_category().item<int64_t>();
  };
  EXPECT_EQ(found(Method::release), 0);
  EXPECT_EQ(found(Method::paper), 1);
}

// The authors' code: b = clip(3 / sigma, 1.5, 3), sigma the mean spread of positives around their
// part location, each weighted by its fit to the template there.
TEST(Memory, WeighsASpreadByTheFitItIsSeenWith) {
  constexpr int64_t kSide = 14;
  auto options = method_options(Method::release);
  options.scale_memory = 0.0;
  Memory memory(1, kSide, 1, options);
  auto maps = torch::zeros({3, 1, kSide, kSide});
  const std::vector<double> heights{2.0, 1.0};
  const std::vector<double> spreads{1.0, 2.0};  // two equal cells, so far from their middle
  maps[0][0][5][5] = maps[0][0][5][7] = heights[0];
  maps[1][0][8][4] = maps[1][0][8][8] = heights[1];  // the third image is silent and counts nothing
  double weighted = 0.0;
  double weights = 0.0;
  for (std::size_t k = 0; k < spreads.size(); ++k) {
    const double away = 2.0 / (kSide - 1) * spreads[k];  // on the release's grid of -1 to 1
    const double fit = 2.0 * heights[k] * (1.0 - 2.0 * away) / (kSide * kSide);  // b = 2 at first
    weighted += fit * spreads[k];
    weights += fit;
  }
  memory.see(maps, look_at(maps, maps, options), torch::zeros({3}, torch::kInt64), {});
  const double slope = 3.0 / (weighted / weights);
  EXPECT_GT(slope, 2.4);  // evenly weighted spreads would give 2
  EXPECT_NEAR(memory.filter_beta()[0].item<double>(), slope * 2.0 * kSide / (kSide - 1), 1e-5);
}

}  // namespace
}  // namespace partwise::parts
