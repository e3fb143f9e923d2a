#include "partwise/interpretable.h"
#include "partwise/kernels/gpu_emulation_fixture.h"
#include "partwise/parts/fused_maps.h"
#include "partwise/parts/option_changes_fixture.h"
#include "partwise/tensors/ranks_fixture.h"
#include "partwise/tensors/step_graph.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

namespace partwise::parts {
namespace {

constexpr int64_t kImages = 11;
constexpr int64_t kFilters = 10;
constexpr int64_t kSide = 6;
constexpr int64_t kLossTerms = 4;  // the logged loss, and those it is made of

// The kernels of a real GPU where there is one, emulated elsewhere.
struct Gpu {
  Gpu() {
    if (kernels::gpu_kernels(0) == nullptr) emulated = std::make_unique<kernels::EmulatedGpu>();
  }
  torch::Device device() const { return emulated ? torch::kCPU : torch::kCUDA; }
  std::unique_ptr<kernels::EmulatedGpu> emulated;
};

// What a few steps leave behind: outputs, gradients before the ReLU, all statistics, what was
// counted.
std::vector<Tensor> traces(const PartOptions& options,
                           at::ScalarType type,
                           int64_t categories,
                           torch::Device device,
                           int64_t side,
                           int64_t images) {
  Interpretable layer(kFilters, side, categories, options);
  layer->to(device);
  layer->set_category_shares(std::vector<double>(static_cast<std::size_t>(categories), 0.3));
  std::vector<Tensor> seen;
  for (int step = 0; step < 5; ++step) {
    torch::manual_seed(static_cast<uint64_t>(step));  // rounding at random draws, too
    auto leaf = torch::randn({images, kFilters, side, side});
    leaf.select(1, 2) -= 1.9;   // a filter that hardly ever fires
    leaf.select(1, 3) *= 0.01;  // a quiet one
    leaf.select(0, 0).abs_().neg_();
    if (type == torch::kBFloat16) leaf.select(0, 1).fill_(1.5);  // all of its cells are the highest
    leaf = leaf.to(type).to(device).requires_grad_();
    const auto pieces = leaf.split({4, kFilters - 4}, 1);
    const std::vector<Tensor> before{pieces[0] * 1.0, pieces[1] * 1.0};
    const auto bias = (0.2 * torch::randn({kFilters})).to(device).requires_grad_();
    const auto biases = bias.split({4, kFilters - 4}, 0);
    const auto labels = torch::randint(-1, categories, {images}, torch::kInt64).to(device);
    const auto target = torch::randn({images, kFilters, side, side}).to(type).to(device);
    layer->set_mask_share(step == 1 ? 0.4 : 1.0);
    const auto out =
        step % 2 == 0
            ? layer->open_and_learn(before, labels, step == 2 ? biases : std::vector<Tensor>{})
            : layer->mask_and_learn(torch::relu(torch::cat(before, 1)), labels);
    ((out - target).to(torch::kFloat32).square().sum() / 50.0).backward();
    for (const auto& tensor : {out.detach(), leaf.grad()}) seen.push_back(tensor);
    if (step == 2) seen.push_back(bias.grad());
  }
  layer->eval();
  torch::manual_seed(9);
  seen.push_back(layer->mask(torch::rand({3, kFilters, side, side}).to(type).to(device)));
  for (const auto& buffer : layer->buffers()) seen.push_back(buffer.clone());
  const auto sums = layer->diagnostic_sums();
  seen.push_back(sums);
  for (int64_t i = 0; i < kLossTerms; ++i) seen.push_back(sums[4 + i]);
  for (auto& tensor : seen) tensor = tensor.to(torch::kCPU, torch::kFloat64);
  return seen;
}

void expect_as_composed(const PartOptions& options,
                        int64_t categories = 3,
                        at::ScalarType type = torch::kFloat32,
                        int64_t side = kSide,
                        int64_t images = kImages) {
  const Gpu gpu;
  const auto fused = traces(options, type, categories, gpu.device(), side, images);
  const ComposedOperators reference;
  const auto composed = traces(options, type, categories, gpu.device(), side, images);
  ASSERT_EQ(fused.size(), composed.size());
  for (std::size_t i = 0; i < fused.size(); ++i) {
    // float32: sums in another order, five steps through exponents. bfloat16 has eight digits, and
    // the composed mask is rounded before it multiplies.
    // Of a map of one cell the weights all but cancel, and what is left are rounding errors.
    const double near = side == 1 ? 3e-2 : type == torch::kFloat32 ? 5e-5 : 2e-2;
    const auto size = composed[i].nan_to_num(0, 0, 0).abs().max().item<double>() + 1e-6;
    const bool loss = i + kLossTerms >= fused.size();  // composed in float64
    const bool counts = i + kLossTerms + 1 == fused.size();
    // Of a filter that hardly fires the exact weights are rounding errors, and so is how many
    // images count.
    const double slack = counts && options.rule == Rule::exact ? 1e-2 : near;
    EXPECT_TRUE(torch::allclose(fused[i], composed[i], near, loss ? 1e-6 : slack * size,
                                /*equal_nan=*/true))
        << i << ": " << (fused[i] - composed[i]).abs().max().item<double>() << " of " << size;
  }
}

void expect_as_composed(const std::function<void(PartOptions&)>& change, int64_t categories = 3) {
  PartOptions options;
  change(options);
  expect_as_composed(options, categories);
}

TEST(GpuLayer, OfTheDefaultIsTheComposedOne) {
  expect_as_composed(PartOptions{});
  expect_as_composed(PartOptions{}, 1);
  expect_as_composed(PartOptions{}, 40);
}

TEST(GpuLayer, OfTheReleaseIsTheComposedOne) {
  expect_as_composed(method_options(Method::release));
  expect_as_composed(method_options(Method::release), 1);
}

TEST(GpuLayer, OfEverySizeOfMapIsTheComposedOne) {
  for (const int64_t side : {1, 7, 8, 9, 13, 14, 15, 21, 32}) {
    SCOPED_TRACE(side);
    expect_as_composed(PartOptions{}, 3, torch::kFloat32, side);
  }
}

// So many blocks that a thread has several rows of a size known when compiling.
TEST(GpuLayer, OfManyImagesIsTheComposedOne) {
  const bool emulated = Gpu().emulated != nullptr;
  expect_as_composed(PartOptions{}, 3, torch::kFloat32, 7, emulated ? 270 : 530);
  if (!emulated) expect_as_composed(PartOptions{}, 3, torch::kFloat32, 13, 530);
}

TEST(GpuLayer, OfHalfTypesIsNearTheComposedOne) {
  expect_as_composed(PartOptions{}, 3, torch::kBFloat16);
  expect_as_composed(PartOptions{}, 1, torch::kBFloat16, 13);
}

TEST(GpuLayer, OfThePaperIsTheComposedOne) {
  expect_as_composed(method_options(Method::paper));
  expect_as_composed(method_options(Method::paper), 1, torch::kFloat32, 7);
  expect_as_composed(method_options(Method::paper), 3, torch::kBFloat16, 14);
}

TEST(GpuLayer, OfEveryRuleIsTheComposedOne) {
  for (const auto rule : {Rule::paper, Rule::paper_all, Rule::exact}) {
    SCOPED_TRACE(word_of(rule));
    PartOptions options;
    options.rule = rule;
    expect_as_composed(options, 1);
    expect_as_composed(options, 40, torch::kBFloat16);
    for (const int64_t side : {1, 8, 9, 13, 14}) {
      SCOPED_TRACE(side);
      // All maps of a silent filter of one cell are the same: its exact weights are rounding
      // errors.
      if (rule == Rule::exact && side == 1) continue;
      expect_as_composed(options, 3, torch::kFloat32, side);
    }
    options.marginal = Marginal::uniform;
    options.misfits = Misfits::ignored;
    options.template_shape = TemplateShape::l2;
    options.strength_unit = StrengthUnit::absolute;
    expect_as_composed(options, 3, torch::kFloat32, 7);
    options.exponent = Exponent::raw;
    options.template_shape = TemplateShape::l1;
    options.beta_rule = BetaRule::learned;
    options.loudness = Loudness::free;
    options.strength_unit = StrengthUnit::peak;
    expect_as_composed(options);
  }
}

TEST(GpuLayer, OfEveryOptionIsTheComposedOne) {
  auto changes = option_changes();
  changes.push_back([](auto& o) { o.rule = Rule::paper; });
  changes.push_back([](auto& o) { o.template_shape = TemplateShape::l2; });
  changes.push_back([](auto& o) { o.peak = Peak::centroid; });
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    expect_as_composed([&](auto& options) { changes[i](options); });
  }
}

// So that a GPU can replay all of them.
TEST(GpuLayer, AsksTheSameOfEveryStepUnderEveryRule) {
  const Gpu gpu;
  for (const auto rule : {Rule::release, Rule::paper, Rule::paper_all, Rule::exact}) {
    SCOPED_TRACE(word_of(rule));
    PartOptions options;
    options.rule = rule;
    Interpretable layer(2, 3, 1, options);
    layer->to(gpu.device());
    const auto maps = torch::rand({2, 2, 3, 3}).to(gpu.device()).requires_grad_();
    const auto labels = torch::zeros({2}, torch::kInt64).to(gpu.device());
    const auto key = layer->pass_key();
    int asked = -1;  // launches of a step
    for (int step = 0; step < 17; ++step) {
      const int before = kernels::launches;
      layer->open_and_learn({maps}, labels).sum().backward();
      if (asked < 0) asked = kernels::launches - before;
      EXPECT_EQ(kernels::launches - before, asked) << step;
      EXPECT_TRUE(layer->repeats());
      EXPECT_EQ(layer->pass_key(), key);
    }
    EXPECT_EQ(asked > 0, gpu.emulated != nullptr);
  }
}

// The strongest cell of a silent map may be where the centroid of nothing is.
TEST(GpuLayer, LiftsSilentMapsWhereverTheirStrongestCellLies) {
  const Gpu gpu;
  PartOptions options;
  options.peak = Peak::centroid;
  options.keep_alive = 1.0;
  options.vote = 0.0;  // which raises these cells, too
  const auto gradient = [&] {
    Interpretable layer(4, 5, 2, options);
    layer->to(gpu.device());
    Tensor leaf;
    for (int step = 0; step < 3; ++step) {
      torch::manual_seed(static_cast<uint64_t>(step));
      leaf = torch::randn({6, 4, 5, 5});
      leaf.select(1, 0).sub_(9.0);  // silent
      leaf.select(1, 0).select(1, 2).select(1, 2).fill_(-0.5);
      leaf = leaf.to(gpu.device()).requires_grad_();
      const auto labels = torch::tensor({0, 1, 0, 1, 0, 1}, torch::kInt64).to(gpu.device());
      layer->open_and_learn({leaf * 1.0}, labels).square().sum().backward();
    }
    return leaf.grad().to(torch::kCPU);
  };
  const auto fused = gradient();
  EXPECT_GT(fused.select(1, 0).abs().max().item<double>(), 0.0);
  const ComposedOperators reference;
  const auto composed = gradient();
  EXPECT_TRUE(torch::allclose(fused, composed, 5e-5, 1e-5)) << (fused - composed).abs().max();
}

// The kernels count the batches that are asked for the filter loss, the program counts beside them.
TEST(GpuLayer, LogsTheLossOfTheSameBatchesAsTheComposedOne) {
  const Gpu gpu;
  const auto logged = [&] {
    Interpretable layer(4, 5, 2);
    layer->to(gpu.device());
    std::vector<Tensor> seen;
    for (int step = 0; step < 40; ++step) {
      torch::manual_seed(static_cast<uint64_t>(step));
      const auto maps = torch::randn({5, 4, 5, 5}).to(gpu.device()).requires_grad_();
      const auto labels = torch::randint(0, 2, {5}, torch::kInt64).to(gpu.device());
      // Another way now and then: the counts must not part.
      std::unique_ptr<ComposedOperators> other;
      if (step == 3 || step == 20) other = std::make_unique<ComposedOperators>();
      layer->open_and_learn({maps}, labels).sum().backward();
      if (step == 18) layer->take_diagnostics();
      if (step == 25) layer->load_diagnostic_sums(layer->diagnostic_sums());
      seen.push_back(layer->diagnostic_sums());
    }
    return torch::stack(seen).slice(1, 4);  // losses and counts
  };
  const auto fused = logged();
  const ComposedOperators reference;
  const auto composed = logged();
  EXPECT_TRUE(torch::allclose(fused, composed, 5e-5, 1e-6)) << (fused - composed).abs().max();
  EXPECT_EQ(composed[39][6].item<double>(), 2.0);  // watched since the look after the 19th
}

// Steps that a GPU replays are those that it would run: what they learn, and which are counted.
TEST(GpuLayer, ReplayedStepsLearnAndCountAsThoseThatAreRun) {
  const Gpu gpu;
  const auto trained = [&](tensors::Replay replay) {
    Interpretable layer(4, 5, 1);
    layer->to(gpu.device());
    tensors::StepGraph graph(replay);
    const auto maps = torch::zeros({5, 4, 5, 5}).to(gpu.device());
    const auto labels = torch::zeros({5}, torch::kInt64).to(gpu.device());
    int replayed = 0;
    std::vector<Tensor> seen;
    for (int step = 0; step < 40; ++step) {
      torch::manual_seed(static_cast<uint64_t>(step));
      maps.copy_(torch::rand({5, 4, 5, 5}));
      labels.copy_(torch::randint(-1, 1, {5}, torch::kInt64));
      const bool again = graph.run(layer->pass_key(), layer->repeats(), [&] {
        const auto leaf = maps.detach().requires_grad_();
        layer->open_and_learn({leaf * 1.0}, labels).square().sum().backward();
      });
      if (again) {
        layer->count_again();
        ++replayed;
      }
      if (step == 18) layer->take_diagnostics();
      if (step == 25) layer->load_diagnostic_sums(layer->diagnostic_sums());
      seen.push_back(layer->diagnostic_sums());
    }
    EXPECT_EQ(replayed > 0, replay == tensors::Replay::on && !gpu.emulated);
    for (const auto& buffer : layer->buffers())
      seen.push_back(buffer.to(torch::kCPU, torch::kFloat64).flatten());
    return torch::cat(seen);
  };
  EXPECT_TRUE(torch::equal(trained(tensors::Replay::on), trained(tensors::Replay::off)));
}

TEST(GpuLayer, MapsThatWereChangedInPlaceAreRefused) {
  const Gpu gpu;
  Interpretable layer(4, 5, 1);
  layer->to(gpu.device());
  const auto labels = torch::zeros({2}, torch::kInt64).to(gpu.device());
  // As the kernels read them: others are copied.
  const auto leaf =
      torch::rand({2, 4, 5, 5}).to(gpu.device()).contiguous(at::MemoryFormat::ChannelsLast);
  const auto maps = leaf.requires_grad_() * 1.0;
  const auto out = layer->mask_and_learn(maps, labels);
  maps.add_(1.0);
  EXPECT_THROW(out.sum().backward(), c10::Error);
}

// Kernels read pairs of filters at once: a view may begin between two.
TEST(GpuLayer, KeepsWhatIsNoNumber) {
  const Gpu gpu;
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    Interpretable layer(kFilters, kSide, 2);
    layer->to(gpu.device());
    auto before = torch::ones({3, kFilters, kSide, kSide}).to(type).to(gpu.device());
    before[1][4].fill_(std::numeric_limits<float>::quiet_NaN());
    const auto labels = torch::zeros({3}, torch::kInt64).to(gpu.device());
    const auto masked = layer->open_and_learn({before}, labels).to(torch::kFloat32).cpu();
    EXPECT_TRUE(torch::isnan(masked[1][4]).all().item<bool>());
    EXPECT_EQ(torch::isnan(masked).sum().item<int64_t>(), kSide * kSide);
  }
}

TEST(GpuLayer, MasksInInferenceMode) {
  const Gpu gpu;
  Interpretable layer(kFilters, kSide, 2);
  layer->to(gpu.device());
  const auto maps = torch::randn({3, kFilters, kSide, kSide}).relu().to(gpu.device());
  const auto masked = layer->mask(maps);
  const c10::InferenceMode inference;
  EXPECT_TRUE(torch::equal(masked, layer->mask(maps * 1.0)));
}

TEST(GpuLayer, MapsMayBeginAnywhereInMemory) {
  const Gpu gpu;
  Interpretable layer(4, 1, 1);
  layer->to(gpu.device());
  const auto numbers = torch::rand({25}).to(gpu.device());
  const auto maps = numbers.narrow(0, 1, 24).view({6, 4, 1, 1});
  EXPECT_TRUE(torch::equal(layer->mask(maps), layer->mask(maps.clone())));
}

// A look that learns nothing, between a pass and its way back.
TEST(GpuLayer, PassesThatDoNotComeBackLearnInTheirTurn) {
  const Gpu gpu;
  const auto trained = [&] {
    Interpretable layer(4, 5, 1);
    layer->to(gpu.device());
    for (int step = 0; step < 6; ++step) {
      torch::manual_seed(static_cast<uint64_t>(step));
      const auto maps = torch::rand({5, 4, 5, 5}).to(gpu.device()).requires_grad_();
      const auto labels = torch::randint(-1, 1, {5}, torch::kInt64).to(gpu.device());
      const auto out = layer->mask_and_learn(maps, labels);
      {
        const torch::NoGradGuard no_grad;
        layer->mask_and_learn(maps.detach() * 2.0, labels);
      }
      out.square().sum().backward();
    }
    const auto copy = std::dynamic_pointer_cast<InterpretableImpl>(layer->clone());
    std::vector<Tensor> seen{layer->diagnostic_sums()};
    for (const auto& buffer : copy->buffers())
      seen.push_back(buffer.to(torch::kCPU, torch::kFloat64).flatten());
    return torch::cat(seen);
  };
  const auto fused = trained();
  const ComposedOperators reference;
  const auto composed = trained();
  EXPECT_TRUE(torch::allclose(fused, composed, 5e-5, 1e-6)) << (fused - composed).abs().max();
}

// Rounding at random keeps in the mean what one bfloat16 cannot hold.
TEST(GpuLayer, PushSurvivesRounding) {
  const Gpu gpu;
  Interpretable layer(2, 4, 1);
  layer->to(gpu.device());
  torch::manual_seed(3);
  const auto values = torch::rand({4, 2, 4, 4}).to(gpu.device()) + 0.1;
  const auto labels = torch::zeros({4}, torch::kInt64).to(gpu.device());
  const auto gradient_of = [&](at::ScalarType type) {
    const auto leaf = values.to(type).clone().requires_grad_();
    layer->open_and_learn({leaf}, labels).to(torch::kFloat32).square().sum().backward();
    return leaf.grad().to(torch::kFloat32);
  };
  for (int i = 0; i < 3; ++i) gradient_of(torch::kFloat32);
  Tensor mean = torch::zeros_like(values);
  constexpr int kRepeats = 400;
  for (int i = 0; i < kRepeats; ++i) mean += gradient_of(torch::kBFloat16) / kRepeats;
  const auto exact = gradient_of(torch::kFloat32);
  // The maps themselves are rounded to eight digits; of the gradient's own rounding a twentieth is
  // left in the mean of 400.
  EXPECT_LT((mean - exact).abs().max().item<double>(), 0.02 * exact.abs().max().item<double>());
}

// A few steps of this rank's share of the batch: its outputs and gradients, and the statistics.
struct Steps {
  std::vector<Tensor> rows;
  std::vector<Tensor> statistics;
};

Steps steps_of(const PartOptions& options, const tensors::Ranks& ranks) {
  Interpretable layer(kFilters, kSide, 3, options);
  layer->set_ranks(ranks);
  const auto [begin, end] = ranks.share(kImages);
  Steps steps;
  for (int step = 0; step < 3; ++step) {
    torch::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(step));
    const auto values = torch::randn({kImages, kFilters, kSide, kSide}, generator);
    const auto target = torch::randn({kImages, kFilters, kSide, kSide}, generator);
    const auto labels = torch::randint(-1, 3, {kImages}, generator, torch::kInt64);
    const auto bias = torch::full({kFilters}, 0.1).requires_grad_();
    const auto leaf = values.slice(0, begin, end).clone().requires_grad_();
    const auto out = layer->open_and_learn({leaf * 1.0}, labels, {bias});
    ((out - target.slice(0, begin, end)).square().sum() / 50.0).backward();
    for (const auto& tensor : {out.detach(), leaf.grad()}) steps.rows.push_back(tensor);
    steps.statistics.push_back(ranks.sum(bias.grad()));
  }
  for (const auto& buffer : layer->buffers()) steps.statistics.push_back(buffer.clone());
  steps.statistics.push_back(layer->diagnostic_sums());
  return steps;
}

class GpuLayerOfRanks : public tensors::SeveralRanks {};

TEST_F(GpuLayerOfRanks, IsThatOfOneProcess) {
  const kernels::EmulatedGpu gpu;
  std::vector<PartOptions> all(6);
  all[1] = method_options(Method::release);
  all[2].strength_unit = StrengthUnit::layer_share;
  all[3] = method_options(Method::paper);
  all[4].rule = Rule::paper_all;
  all[5].rule = Rule::exact;
  const auto expect_near = [](const Tensor& found, const Tensor& expected) {
    const auto size = expected.abs().max().item<double>() + 1e-6;
    EXPECT_TRUE(torch::allclose(found, expected, 2e-5, 2e-5 * size))
        << (found - expected).abs().max().item<double>() << " of " << size;
  };
  for (const auto& options : all) {
    const auto whole = steps_of(options, {});
    for (const int count : {2, 3}) {
      tensors::as_ranks(count, [&](const tensors::Ranks& ranks) {
        const auto own = steps_of(options, ranks);
        const auto [begin, end] = ranks.share(kImages);
        for (std::size_t i = 0; i < own.rows.size(); ++i)
          expect_near(own.rows[i], whole.rows[i].slice(0, begin, end));
        for (std::size_t i = 0; i < own.statistics.size(); ++i)
          expect_near(own.statistics[i], whole.statistics[i]);
      });
    }
  }
}

}  // namespace
}  // namespace partwise::parts
