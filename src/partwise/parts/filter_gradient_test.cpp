#include "partwise/parts/filter_gradient.h"

#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace partwise::parts {
namespace {

constexpr int64_t kSide = 14;

FilterBatch batch_of(const Tensor& maps, const Tensor& positive, const PartOptions& options = {}) {
  const auto count = positive.sum(0).clamp_min(1);
  const auto scale = (maps.amax({2, 3}) * positive).sum(0) / count;
  return {maps.flatten(2), peak_cells(maps, options), positive,
          unit_templates(maps.size(2), options).to(maps.scalar_type()), scale.clamp_min(1e-12)};
}

Tensor mostly_positive(int64_t batch, int64_t filters) {
  auto positive = torch::ones({batch, filters}, torch::kBool);
  positive.slice(0, batch - batch / 4).fill_(false);
  return positive;
}

TEST(FilterGradient, EqualsTheFormulaWrittenOutForOneFilter) {
  torch::manual_seed(5);
  const PartOptions options;
  const auto maps = torch::rand({5, 2, 4, 4}, torch::kFloat64);
  const auto positive = mostly_positive(5, 2);  // four positives, one negative
  const auto batch = batch_of(maps, positive, options);
  const auto gradient = filter_gradient(batch, options).gradient;
  const double scale = batch.scale[1].item<double>();
  std::vector<double> raw;
  double log_z = 0.0;
  for (int64_t k = 0; k < 4; ++k) {  // filter 1; the other template is that of image 4-k, filter 0
    const auto other = batch.templates[batch.peaks[4 - k][0].item<int64_t>()];
    log_z += std::exp((maps[k][1].flatten() * other).mean().item<double>() / scale /
                      options.temperature) /
             4.0;
  }
  double mean = 0.0;
  for (int64_t k = 0; k < 4; ++k) {
    const auto own = batch.templates[batch.peaks[k][1].item<int64_t>()];
    const double u =
        (maps[k][1].flatten() * own).mean().item<double>() / scale / options.temperature;
    raw.push_back(std::exp(u) * std::max(u - std::log(log_z) + 1.0, 0.0));
    mean += raw.back() / 4.0;
  }
  for (int64_t k = 0; k < 4; ++k) {
    const auto own = batch.templates[batch.peaks[k][1].item<int64_t>()];
    const double w = std::min(raw[static_cast<std::size_t>(k)] / mean, 10.0);
    const auto expected = -(0.5 * 5.0 / 4.0) * w * scale * own;
    EXPECT_LT((gradient[k][1] - expected).abs().max().item<double>(), 1e-12) << k;
  }
  // a single negative has weight 1: it is pushed down evenly
  EXPECT_LT((gradient[4][1] - 0.5 * 5.0 * scale).abs().max().item<double>(), 1e-12);
}

TEST(FilterGradient, IsTheSameAtEveryActivationScaleButForTheScaleItself) {
  torch::manual_seed(2);
  const auto maps = torch::rand({8, 3, kSide, kSide}, torch::kFloat64);
  const auto positive = mostly_positive(8, 3);
  const auto at_one = filter_gradient(batch_of(maps, positive), {}).gradient;
  for (const double scale : {1e-3, 10.0, 1e4}) {
    const auto scaled = filter_gradient(batch_of(maps * scale, positive), {}).gradient / scale;
    EXPECT_LT((scaled - at_one).abs().max().item<double>(), 1e-9) << scale;
  }
}

TEST(FilterGradient, IsFiniteForEveryOddBatch) {
  torch::manual_seed(4);
  for (const double scale : {0.0, 1e-3, 1.0, 1e4}) {
    for (const int64_t batch : {1, 2, 9}) {
      const auto maps = torch::rand({batch, 3, 6, 6}) * scale;
      for (const bool value : {false, true}) {  // no positives; no negatives
        const auto positive = torch::full({batch, 3}, value, torch::kBool);
        const auto rule = filter_gradient(batch_of(maps, positive), {});
        EXPECT_TRUE(rule.gradient.isfinite().all().item<bool>()) << scale << batch << value;
        EXPECT_TRUE(rule.effective_samples.isfinite().item<bool>());
      }
    }
  }
}

TEST(FilterGradient, PermutingFiltersPermutesTheResult) {
  torch::manual_seed(6);
  const auto maps = torch::rand({6, 4, 5, 5}, torch::kFloat64);
  // reversing keeps every filter's partner for log Z: the mirrored one
  const auto plain = filter_gradient(batch_of(maps, mostly_positive(6, 4)), {}).gradient;
  const auto swapped =
      filter_gradient(batch_of(maps.flip({1}), mostly_positive(6, 4)), {}).gradient;
  EXPECT_LT((swapped.flip({1}) - plain).abs().max().item<double>(), 1e-12);
}

// Free maps with four blobs each, moved by the rule alone: what it is for.
TEST(FilterGradient, MakesFreeMapsPureAndSilencesNegatives) {
  for (const double scale : {1.0, 10.0, 100.0}) {
    torch::manual_seed(9);
    auto maps = (torch::rand({48, 1, kSide, kSide}, torch::kFloat64).pow(6) * scale).contiguous();
    auto positive = torch::ones({48, 1}, torch::kBool);
    positive.slice(0, 36).fill_(false);
    const auto purity = [&] {
      const auto batch = batch_of(maps, positive);
      const auto near =
          batch.templates.index_select(0, batch.peaks.flatten()).gt(0).view_as(batch.maps);
      const auto inside = (batch.maps * near).sum(2) / batch.maps.sum(2).clamp_min(1e-12);
      return inside.slice(0, 0, 36).mean().item<double>();
    };
    const double before = purity();
    const double loudest_negative = maps.slice(0, 36).max().item<double>();
    for (int step = 0; step < 200; ++step) {
      const auto gradient = filter_gradient(batch_of(maps, positive), {}).gradient.view_as(maps);
      const auto gated = gradient * (maps > 0);
      maps = (maps - 0.02 * gated).clamp_min(0.0);
    }
    EXPECT_LT(before, 0.5) << scale;
    EXPECT_GT(purity(), 0.99) << scale;
    EXPECT_LT(maps.slice(0, 36).max().item<double>(), 0.5 * loudest_negative) << scale;
  }
}

}  // namespace
}  // namespace partwise::parts
