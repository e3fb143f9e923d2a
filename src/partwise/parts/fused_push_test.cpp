#include "partwise/interpretable.h"
#include "partwise/parts/fused_gradient.h"
#include "partwise/parts/fused_maps.h"
#include "partwise/parts/option_changes_fixture.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <functional>

namespace partwise::parts {
namespace {

constexpr int64_t kImages = 11;
constexpr int64_t kFilters = 9;
constexpr int64_t kSide = 6;
constexpr int64_t kDeep = 2 << 20;  // a second cache, bytes
constexpr int64_t kFlat = 1 << 20;

// What a few steps leave behind: outputs, gradients before and after the ReLU, all statistics, what
// was counted.
std::vector<Tensor> traces(const PartOptions& options, at::ScalarType type, int64_t categories) {
  torch::manual_seed(5);
  Interpretable layer(kFilters, kSide, categories, options);
  layer->to(type);
  layer->set_category_shares(std::vector<double>(static_cast<std::size_t>(categories), 0.3));
  std::vector<Tensor> seen;
  for (int step = 0; step < 5; ++step) {
    auto leaf = torch::randn({kImages, kFilters, kSide, kSide}, torch::kFloat64);
    leaf.select(1, 2) -= 1.9;   // a filter that hardly ever fires
    leaf.select(1, 3) *= 0.01;  // a quiet one
    leaf.select(0, 0).abs_().neg_();
    leaf = leaf.to(type).requires_grad_();
    const auto pieces = leaf.split({4, kFilters - 4}, 1);
    const std::vector<Tensor> before{pieces[0] * 1.0, pieces[1] * 1.0};
    const auto maps = torch::relu(torch::cat(before, 1));
    const auto labels = torch::randint(-1, categories, {kImages}, torch::kInt64);
    layer->set_mask_share(step == 1 ? 0.4 : 1.0);
    const auto out = step % 2 == 0 ? layer->mask_and_learn(maps, labels, before)
                                   : layer->mask_and_learn(maps, labels);
    const auto target = torch::randn_like(out);
    ((out - target).square().sum() / 50.0).backward();
    for (const auto& tensor : {out.detach(), leaf.grad()}) seen.push_back(tensor);
  }
  layer->eval();
  seen.push_back(layer->mask(torch::rand({3, kFilters, kSide, kSide}, type)));
  for (const auto& buffer : layer->buffers()) seen.push_back(buffer.clone());
  seen.push_back(layer->diagnostic_sums());
  return seen;
}

void expect_as_composed(const PartOptions& options, int64_t categories = 3) {
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    const SecondCache cache(type == torch::kFloat64 ? kDeep : kFlat);
    const auto fused = traces(options, type, categories);
    const ComposedOperators reference;
    const auto composed = traces(options, type, categories);
    ASSERT_EQ(fused.size(), composed.size());
    for (std::size_t i = 0; i < fused.size(); ++i) {
      const auto one = fused[i].to(torch::kFloat64);
      const auto other = composed[i].to(torch::kFloat64);
      // Sums in another order; five steps of float32 through exponents.
      const double near = type == torch::kFloat64 ? 1e-9 : 2e-5;
      const auto size = other.nan_to_num(0, 0, 0).abs().max().item<double>() + 1e-6;
      EXPECT_TRUE(torch::allclose(one, other, near, near * size))
          << i << ": " << (one - other).abs().max().item<double>() << " of " << size;
    }
  }
}

void expect_as_composed(const std::function<void(PartOptions&)>& change, int64_t categories = 3) {
  PartOptions options;
  change(options);
  expect_as_composed(options, categories);
}

TEST(FusedPush, OfTheDefaultIsTheComposedOne) {
  expect_as_composed(PartOptions{});
  expect_as_composed(PartOptions{}, 1);
}

TEST(FusedPush, OfThePublishedMethodsIsTheComposedOne) {
  for (const auto method : {Method::paper, Method::release}) {
    SCOPED_TRACE(static_cast<int>(method));
    expect_as_composed(method_options(method));
    expect_as_composed(method_options(method), 1);
  }
}

TEST(FusedPush, OfThePaperRulesIsTheComposedOne) {
  for (const auto marginal : {Marginal::definition, Marginal::uniform}) {
    expect_as_composed([&](auto& options) {
      options.rule = Rule::paper;
      options.marginal = marginal;
    });
  }
  for (const auto rule : {Rule::paper_all, Rule::exact})
    expect_as_composed([&](auto& options) { options.rule = rule; });
}

TEST(FusedPush, OfEveryOptionIsTheComposedOne) {
  const auto changes = option_changes();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    expect_as_composed([&](auto& options) { changes[i](options); });
  }
  for (const auto rule : {Rule::release, Rule::paper}) {
    expect_as_composed([&](auto& options) {
      options.rule = rule;
      options.template_shape = TemplateShape::l2;
      options.peak = Peak::centroid;
      options.misfits = Misfits::ignored;
      options.balance = Balance::none;
    });
  }
}

// Maps of one cell have one template, whatever their beta.
TEST(FusedPush, OfMapsOfOneCellIsTheComposedOne) {
  const auto trained = [](const PartOptions& options) {
    torch::manual_seed(2);
    Interpretable layer(4, 1, 2, options);
    const auto maps = torch::rand({6, 4, 1, 1}).requires_grad_();
    const auto labels = torch::randint(-1, 2, {6}, torch::kInt64);
    const auto out = layer->mask_and_learn(maps, labels);
    out.square().sum().backward();
    return torch::stack({out.detach(), maps.grad()});
  };
  for (const auto method : {Method::partwise, Method::release}) {
    const auto fused = trained(method_options(method));
    const ComposedOperators reference;
    const auto composed = trained(method_options(method));
    EXPECT_GT(fused[0].sum().item<double>(), 0.0);
    EXPECT_TRUE(torch::allclose(fused, composed, 1e-4, 1e-5)) << fused - composed;
  }
}

TEST(FusedPush, AnEmptyBatchTeachesNothing) {
  for (const auto rule : {Rule::release, Rule::paper, Rule::exact}) {
    PartOptions options;
    options.rule = rule;
    Interpretable layer(4, 3, 2, options);
    const auto before = layer->buffers(true);
    std::vector<Tensor> kept;
    for (const auto& buffer : before) kept.push_back(buffer.clone());
    const auto maps = torch::rand({0, 4, 3, 3}).requires_grad_();
    layer->mask_and_learn(maps, torch::empty({0}, torch::kInt64)).sum().backward();
    for (std::size_t i = 0; i < kept.size(); ++i)
      EXPECT_TRUE(torch::equal(layer->buffers()[i], kept[i])) << i;
  }
}

// Where a cache holds a few filters of all images the way back is one pass, otherwise two.
TEST(FusedPush, IsTheComposedOneWhateverTheCacheHolds) {
  const auto trained = [](int64_t images) {
    torch::manual_seed(6);
    Interpretable layer(5, 14, 2);
    std::vector<Tensor> seen;
    for (int step = 0; step < 2; ++step) {
      auto leaf = torch::randn({images, 5, 14, 14});
      leaf.select(1, 1) *= 0.01;  // quiet: to be lifted
      leaf.requires_grad_();
      const auto labels = torch::randint(-1, 2, {images}, torch::kInt64);
      layer->mask_and_learn(torch::relu(leaf), labels).square().sum().backward();
      seen.push_back(leaf.grad());
    }
    return torch::stack(seen);
  };
  for (const int64_t images : {30, 90}) {
    Tensor composed;
    {
      const ComposedOperators reference;
      composed = trained(images);
    }
    std::vector<Tensor> fused;
    for (const int64_t bytes : {kDeep, kFlat}) {
      const SecondCache cache(bytes);
      EXPECT_EQ(filters_in_cache(torch::empty({images, 5, 14, 14})) > 0,
                images == 30 && bytes == kDeep);
      fused.push_back(trained(images));
      EXPECT_TRUE(torch::allclose(fused.back(), composed, 2e-5, 1e-4));
    }
    EXPECT_TRUE(torch::equal(fused[0], fused[1]));
  }
}

// Enough maps that two threads share them.
TEST(FusedPush, DoesNotDependOnThreads) {
  const auto trained = [](int threads) {
    const SecondCache cache(kDeep);
    at::set_num_threads(threads);
    torch::manual_seed(7);
    Interpretable layer(17, 5, 3);
    std::vector<Tensor> seen;
    for (int step = 0; step < 3; ++step) {
      const auto maps = torch::rand({61, 17, 5, 5}).requires_grad_();
      const auto labels = torch::randint(-1, 3, {61}, torch::kInt64);
      const auto out = layer->mask_and_learn(maps, labels);
      out.square().sum().backward();
      for (const auto& tensor : {out.detach(), maps.grad()}) seen.push_back(tensor.flatten());
    }
    for (const auto& buffer : layer->buffers()) seen.push_back(buffer.flatten());
    return torch::cat(seen);
  };
  const int before = at::get_num_threads();
  const auto one = trained(1);
  EXPECT_TRUE(torch::equal(trained(2), one));
  EXPECT_TRUE(torch::equal(trained(3), one));
  at::set_num_threads(before);
}

// The mask is linear: differentiated twice it is itself.
TEST(FusedPush, CanBeDifferentiatedTwice) {
  Interpretable layer(2, 4, 1);
  layer->to(torch::kFloat64);
  layer->eval();
  torch::manual_seed(3);
  const auto maps = torch::rand({2, 2, 4, 4}, torch::kFloat64).requires_grad_();
  const auto twice = [&] {
    const auto out = layer->mask(maps);
    const auto first = torch::autograd::grad({out.pow(3).sum()}, {maps}, {}, true, true)[0];
    return torch::autograd::grad({first.square().sum()}, {maps})[0];
  };
  const auto fused = twice();
  const ComposedOperators reference;
  EXPECT_TRUE(torch::allclose(fused, twice(), 1e-12, 1e-12));
}

TEST(FusedPush, TakesMapsInAnyLayoutAndType) {
  Interpretable layer(3, 5, 2);
  layer->eval();
  torch::manual_seed(4);
  const auto maps = torch::rand({4, 3, 5, 5});
  const auto expected = layer->mask(maps);
  const auto last = maps.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(torch::equal(layer->mask(last), expected));
  EXPECT_TRUE(torch::equal(layer->mask(maps.expand({4, 3, 5, 5}).flip({0})).flip({0}), expected));
  EXPECT_TRUE(torch::allclose(layer->mask(maps.to(torch::kFloat64)).to(torch::kFloat32), expected));
  const auto half = layer->mask(maps.to(torch::kBFloat16));
  EXPECT_EQ(half.scalar_type(), torch::kBFloat16);
  EXPECT_EQ(layer->mask(maps.slice(0, 0, 0)).size(0), 0);
}

}  // namespace
}  // namespace partwise::parts
