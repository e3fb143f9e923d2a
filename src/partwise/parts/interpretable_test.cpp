#include "partwise/interpretable.h"

#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <sstream>
#include <vector>

namespace partwise::parts {
namespace {

// The filter loss alone, of any loudness.
PartOptions with_strength(double strength) {
  PartOptions options;
  options.strength = strength;
  options.assignment = Assignment::absolute;
  options.loudness = Loudness::free;
  options.vote = 0.0;
  options.keep_alive = 0.0;
  return options;
}

struct Step {
  Tensor output;
  Tensor gradient;
};

Step step(Interpretable layer, const Tensor& values, const Tensor& category) {
  const auto leaf = values.clone().requires_grad_();
  const auto maps = torch::relu(leaf);
  const auto output = layer->mask_and_learn(maps, category);
  (output * output).sum().backward();
  return {output.detach(), leaf.grad()};
}

Tensor batch_category() {
  return torch::tensor({0, 0, 1, -1}, torch::kInt64);
}

TEST(Interpretable, WithoutStrengthIsTheMaskAloneBitForBit) {
  torch::manual_seed(1);
  const auto values = torch::randn({4, 3, 6, 6});
  Interpretable layer(3, 6, 2, with_strength(0.0));
  const auto [output, gradient] = step(layer, values, batch_category());
  const auto leaf = values.clone().requires_grad_();
  const auto masked = layer->mask(torch::relu(leaf));
  (masked * masked).sum().backward();
  EXPECT_TRUE(torch::equal(output, masked));
  EXPECT_TRUE(torch::equal(gradient, leaf.grad()));
}

TEST(Interpretable, AddsTheAskedShareOfTheTaskGradientAndNothingInTheForwardPass) {
  torch::manual_seed(2);
  const auto values = torch::randn({4, 3, 6, 6});
  Interpretable plain(3, 6, 2, with_strength(0.0));
  Interpretable learning(3, 6, 2, with_strength(0.05));
  const auto without = step(plain, values, batch_category());
  const auto with = step(learning, values, batch_category());
  EXPECT_TRUE(torch::equal(with.output, without.output));
  const auto added = with.gradient - without.gradient;
  EXPECT_NEAR((added.norm() / without.gradient.norm()).item<double>(), 0.05, 1e-5);  // float32
  EXPECT_NEAR(learning->take_diagnostics().gradient_ratio, 0.05, 1e-5);
}

TEST(Interpretable, MovesActivationsWithoutMakingAFilterLouderWhereAsked) {
  torch::manual_seed(7);
  const auto values = torch::randn({4, 3, 6, 6});
  Interpretable plain(3, 6, 2, with_strength(0.0));
  const auto task = step(plain, values, batch_category()).gradient;
  // Per filter: the cosine between the push and the maps; descent subtracts the push.
  const auto growth = [&](Loudness loudness) {
    auto options = with_strength(0.5);
    options.loudness = loudness;
    Interpretable layer(3, 6, 2, options);
    const auto push = step(layer, values, batch_category()).gradient - task;
    EXPECT_NEAR((push.norm() / task.norm()).item<double>(), 0.5, 1e-4);
    const std::vector<int64_t> image{0, 2, 3};
    const auto maps = values.relu();
    return -(push * maps).sum(image) / push.norm(2, image) / maps.norm(2, image);
  };
  EXPECT_GT(growth(Loudness::free).abs().min().item<double>(), 0.02);
  EXPECT_LT(growth(Loudness::kept).abs().max().item<double>(), 1e-5);
}

TEST(Interpretable, LetsNoFilterGradientThroughAClosedRelu) {
  torch::manual_seed(3);
  const auto values = torch::randn({4, 3, 6, 6});
  Interpretable layer(3, 6, 2, with_strength(0.5));
  const auto gradient = step(layer, values, batch_category()).gradient;
  EXPECT_EQ(gradient.masked_select(values <= 0).abs().sum().item<float>(), 0.0F);
}

TEST(Interpretable, AssignsEachFilterTheCategoryThatActivatesItMost) {
  Interpretable layer(2, 3, 2);
  auto maps = torch::zeros({4, 2, 3, 3});
  maps[0][0].fill_(1.0);  // category 0: filter 0 sums to 9
  maps[1][0].fill_(1.0);
  maps[2][0].fill_(0.5);
  maps[2][1].fill_(2.0);  // category 1: filter 1 sums to 18
  maps[3][1].fill_(9.0);  // no category: must not count
  layer->mask_and_learn(maps, batch_category());
  EXPECT_TRUE(torch::equal(layer->filter_category(), torch::tensor({0, 1}, torch::kInt64)));
  const auto swapped = torch::tensor({1, 1, 0, -1}, torch::kInt64);
  Interpretable other(2, 3, 2);
  other->mask_and_learn(maps, swapped);
  EXPECT_TRUE(torch::equal(other->filter_category(), torch::tensor({1, 0}, torch::kInt64)));
}

// Category 0 excites every filter more than category 1 does; filter 1 is the one that leans to 1.
TEST(Interpretable, GivesEveryCategoryFiltersUnderTheRelativeAssignment) {
  auto maps = torch::zeros({2, 3, 3, 3});
  const auto sums = torch::tensor({{9.0, 9.0, 9.0}, {1.0, 3.0, 1.0}});
  maps += (sums / 9.0).view({2, 3, 1, 1});
  const auto category = torch::tensor({0, 1}, torch::kInt64);
  auto options = with_strength(0.03);
  Interpretable absolute(3, 3, 2, options);
  absolute->mask_and_learn(maps, category);
  EXPECT_TRUE(torch::equal(absolute->filter_category(), torch::tensor({0, 0, 0}, torch::kInt64)));
  options.assignment = Assignment::relative;
  Interpretable relative(3, 3, 2, options);
  relative->mask_and_learn(maps, category);
  EXPECT_TRUE(torch::equal(relative->filter_category(), torch::tensor({0, 1, 0}, torch::kInt64)));
}

std::map<std::string, Tensor> buffers_of(Interpretable layer) {
  std::map<std::string, Tensor> copies;
  for (const auto& buffer : layer->named_buffers()) copies[buffer.key()] = buffer->clone();
  return copies;
}

void expect_buffers(Interpretable layer, const std::map<std::string, Tensor>& expected) {
  EXPECT_EQ(layer->named_buffers().size(), expected.size());
  for (const auto& buffer : layer->named_buffers())
    EXPECT_TRUE(torch::equal(*buffer, expected.at(buffer.key()))) << buffer.key();
}

TEST(Interpretable, LearnsNothingFromEvaluation) {
  Interpretable layer(2, 3, 2);
  layer->mask_and_learn(torch::rand({4, 2, 3, 3}), batch_category());
  const auto before = buffers_of(layer);
  layer->mask(torch::rand({4, 2, 3, 3}));
  layer->eval();
  layer->forward(torch::rand({4, 2, 3, 3}));
  expect_buffers(layer, before);
}

// What torch::save and torch::load do, through memory.
void save_and_load(Interpretable from, Interpretable into) {
  torch::serialize::OutputArchive out;
  from->save(out);
  std::stringstream bytes;
  out.save_to(bytes);
  torch::serialize::InputArchive in;
  in.load_from(bytes);
  into->load(in);
}

TEST(Interpretable, MasksInInferenceModeAndLearnsAfterwards) {
  const auto maps = torch::randn({2, 4, 5, 5}).relu();
  Tensor masked;
  Interpretable layer = nullptr;
  {
    const c10::InferenceMode inference;
    layer = Interpretable(4, 5, 2);
    masked = layer->mask(maps * 1.0);
  }
  EXPECT_TRUE(torch::equal(masked, layer->mask(maps)));
  layer->mask_and_learn(maps, torch::tensor({0, 1}, torch::kInt64));
  EXPECT_GT(layer->named_buffers()["batches"].item<float>(), 0.0F);
}

TEST(Interpretable, GoesOnFromItsSavedState) {
  torch::manual_seed(4);
  for (const auto rule : values_of<Rule>()) {
    PartOptions options;
    options.rule = rule;
    Interpretable layer(3, 6, 2, options);
    step(layer, torch::randn({4, 3, 6, 6}), batch_category());
    Interpretable copy(3, 6, 2, options);
    save_and_load(layer, copy);
    expect_buffers(copy, buffers_of(layer));
    const auto values = torch::randn({4, 3, 6, 6});
    EXPECT_TRUE(torch::equal(step(layer, values, batch_category()).gradient,
                             step(copy, values, batch_category()).gradient));
  }
}

TEST(Interpretable, ClonesLearnOnTheirOwn) {
  torch::manual_seed(5);
  auto options = with_strength(0.05);
  options.beta_rule = BetaRule::learned;
  Interpretable layer(3, 6, 2, options);
  step(layer, torch::randn({4, 3, 6, 6}), batch_category());
  Interpretable copy(std::dynamic_pointer_cast<InterpretableImpl>(layer->clone()));
  const auto before = buffers_of(layer);
  expect_buffers(copy, before);
  const auto values = torch::randn({4, 3, 6, 6});
  const auto gradient = step(copy, values, batch_category()).gradient;
  expect_buffers(layer, before);
  EXPECT_TRUE(torch::equal(step(layer, values, batch_category()).gradient, gradient));
}

TEST(Interpretable, PrintsItself) {
  std::ostringstream text;
  text << *Interpretable(256, 14, 20);
  EXPECT_EQ(text.str(),
            "partwise::Interpretable(filters=256, side=14, categories=20, rule=release, "
            "strength=0.03 filter-share, beta=4)");
}

TEST(Interpretable, KeepsItsStatisticsInFloat32UnlessFloat64IsAskedFor) {
  Interpretable layer(3, 6, 2);
  const auto type = [&] { return layer->named_buffers()["peak_scale"].scalar_type(); };
  layer->to(torch::kFloat16);
  EXPECT_EQ(type(), torch::kFloat32);
  layer->to(torch::kCPU, torch::kBFloat16);
  EXPECT_EQ(type(), torch::kFloat32);
  layer->to(torch::kFloat64);
  EXPECT_EQ(type(), torch::kFloat64);
  const auto maps = torch::rand({4, 3, 6, 6}, torch::kFloat64);
  EXPECT_EQ(layer->forward(maps, batch_category()).scalar_type(), torch::kFloat64);
}

std::string complaint_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Interpretable, RefusesOtherMapsLabelsFilesAndSizes) {
  Interpretable layer(3, 6, 2);
  const auto maps = torch::rand({4, 3, 6, 6});
  const auto labelled = [&](const Tensor& labels) {
    return complaint_of([&] { layer->forward(maps, labels); });
  };
  const std::string shape = "; expected numbers of shape [batch, 3, 6, 6]";
  EXPECT_EQ(complaint_of([&] {
              layer->forward(torch::rand({4, 3, 7, 7}), batch_category());
            }),
            "Interpretable: maps are Float of shape [4, 3, 7, 7]" + shape);
  EXPECT_EQ(complaint_of([&] {
              layer->mask(torch::rand({4, 2, 6, 6}));
            }),
            "Interpretable: maps are Float of shape [4, 2, 6, 6]" + shape);
  EXPECT_EQ(labelled({}), "Interpretable: training needs labels; eval() does not");
  EXPECT_EQ(labelled(torch::zeros({4})),
            "Interpretable: labels are Float of shape [4]; expected int64 of shape [batch]");
  EXPECT_EQ(labelled(torch::zeros({5}, torch::kInt64)), "Interpretable: 5 labels for 4 maps");
  EXPECT_EQ(labelled(torch::tensor({0, 1, 2, 0}, torch::kInt64)),
            "Interpretable: a label is 2; valid: 0 to 1, and -1 for an image of no category");
  EXPECT_EQ(labelled(torch::tensor({0, 1, -2, 0}, torch::kInt64)),
            "Interpretable: a label is -2; valid: 0 to 1, and -1 for an image of no category");
  EXPECT_EQ(complaint_of([&] { Interpretable(3, 0, 2); }),
            "Interpretable: 3 filters, side 0, 2 categories; each must be 1 or more");
  EXPECT_EQ(complaint_of([&] { Interpretable(3, 6, 2, with_strength(-1.0)); }),
            "strength = -1 is outside [0, 1000000]");
  EXPECT_NE(
      complaint_of([&] { save_and_load(layer, Interpretable(5, 6, 2)); }).find("other filters"),
      std::string::npos);
}

// The gradient of the task that arrives below the layer, times `scale`, over halves of the batch or
// the whole of it: what gradient accumulation, and a loss that is a sum, come to.
Tensor push_of(StrengthUnit unit, double loss_scale) {
  torch::manual_seed(13);
  const auto values = torch::randn({4, 3, 6, 6});
  auto options = with_strength(0.05);
  options.strength_unit = unit;
  Interpretable layer(3, 6, 2, options);
  const auto leaf = values.clone().requires_grad_();
  const auto output = layer->forward(torch::relu(leaf), batch_category());
  ((output * output).sum() * loss_scale).backward();
  const auto plain = values.clone().requires_grad_();
  const auto masked = layer->mask(torch::relu(plain));
  ((masked * masked).sum() * loss_scale).backward();
  return leaf.grad() - plain.grad();
}

// Accumulation over k passes divides the loss by k; a summed loss multiplies it by the batch size.
TEST(Interpretable, PushesInProportionToTheLossInTheShareUnitsAndRegardlessOfItInTheOthers) {
  const auto ratio = [](StrengthUnit unit, double loss_scale) {
    return (push_of(unit, loss_scale).norm() / push_of(unit, 1.0).norm()).item<double>();
  };
  for (const double scale : {0.25, 4.0}) {  // powers of two: float32 loses nothing
    EXPECT_NEAR(ratio(StrengthUnit::filter_share, scale), scale, 1e-4 * scale);
    EXPECT_NEAR(ratio(StrengthUnit::layer_share, scale), scale, 1e-4 * scale);
    EXPECT_NEAR(ratio(StrengthUnit::peak, scale), 1.0, 1e-4);
    EXPECT_NEAR(ratio(StrengthUnit::absolute, scale), 1.0, 1e-4);
  }
}

TEST(Interpretable, AccumulatesThePushOfEveryPassOverItsOwnMaps) {
  torch::manual_seed(14);
  const std::vector<Tensor> values{torch::randn({4, 3, 6, 6}), torch::randn({4, 3, 6, 6})};
  Interpretable layer(3, 6, 2, with_strength(0.05));
  Interpretable other(3, 6, 2, with_strength(0.05));
  const auto leaf = torch::ones({1}).requires_grad_();  // a weight that both passes share
  auto sum = torch::zeros({1});
  for (const auto& value : values) {
    const auto output = layer->forward(torch::relu(leaf * value), batch_category());
    ((output * output).mean() / 2.0).backward();
    const auto own = torch::ones({1}).requires_grad_();
    const auto again = other->forward(torch::relu(own * value), batch_category());
    ((again * again).mean() / 2.0).backward();
    sum += own.grad();
  }
  EXPECT_TRUE(torch::allclose(leaf.grad(), sum));
  expect_buffers(layer, buffers_of(other));
}

TEST(Interpretable, CountsASecondForwardPassAsABatchAndPushesByWhatWasKnownAtEach) {
  torch::manual_seed(15);
  const auto values = torch::randn({4, 3, 6, 6});
  Interpretable layer(3, 6, 2, with_strength(0.05));
  Interpretable once(3, 6, 2, with_strength(0.05));
  const auto leaf = values.clone().requires_grad_();
  const auto first = layer->forward(torch::relu(leaf), batch_category());
  layer->forward(torch::relu(torch::randn({4, 3, 6, 6})), batch_category());  // never used
  (first * first).sum().backward();
  EXPECT_TRUE(torch::equal(leaf.grad(), step(once, values, batch_category()).gradient));
  EXPECT_FALSE(torch::equal(layer->named_buffers()["category_seen"],
                            once->named_buffers()["category_seen"]));
}

TEST(Interpretable, StaysFiniteWhenEveryFilterIsDead) {
  Interpretable layer(3, 6, 2, with_strength(0.03));
  const auto gradient = step(layer, -torch::ones({4, 3, 6, 6}), batch_category()).gradient;
  EXPECT_TRUE(gradient.isfinite().all().item<bool>());
  EXPECT_EQ(layer->take_diagnostics().dead_share, 1.0);
}

TEST(Interpretable, TakesHalfPrecisionMapsAndGivesThemBack) {
  torch::manual_seed(6);
  for (const auto type : {torch::kFloat16, torch::kBFloat16}) {
    for (const auto rule : values_of<Rule>()) {
      auto options = with_strength(0.05);
      options.rule = rule;
      Interpretable layer(3, 6, 2, options);
      const auto leaf = torch::rand({4, 3, 6, 6}).to(type).requires_grad_();
      const auto output = layer->mask_and_learn(leaf * 1.0, batch_category());
      output.sum().backward();
      EXPECT_EQ(output.scalar_type(), type);
      EXPECT_EQ(leaf.grad().scalar_type(), type);
      EXPECT_TRUE(leaf.grad().isfinite().all().item<bool>()) << word_of(rule);
      EXPECT_GT(layer->take_diagnostics().gradient_ratio, 0.0) << word_of(rule);
    }
  }
}

TEST(Interpretable, PermutingFiltersPermutesWhatItLearns) {
  torch::manual_seed(7);
  const auto values = torch::randn({4, 3, 6, 6});
  const auto order = torch::tensor({2, 1, 0}, torch::kInt64);  // keeps the release's partners
  Interpretable one(3, 6, 2, with_strength(0.05));
  Interpretable two(3, 6, 2, with_strength(0.05));
  const auto plain = step(one, values, batch_category()).gradient;
  const auto permuted = step(two, values.index_select(1, order), batch_category()).gradient;
  EXPECT_LT((permuted - plain.index_select(1, order)).abs().max().item<double>(), 1e-6);
}

TEST(Interpretable, FlippedImagesGetFlippedGradients) {
  torch::manual_seed(8);
  const auto values = torch::randn({4, 3, 6, 6});
  Interpretable one(3, 6, 2, with_strength(0.05));
  Interpretable two(3, 6, 2, with_strength(0.05));
  const auto plain = step(one, values, batch_category()).gradient;
  const auto flipped = step(two, values.flip({3}), batch_category()).gradient;
  EXPECT_LT((flipped.flip({3}) - plain).abs().max().item<double>(), 1e-6);
}

// The filter gradient that arrives when the task asks for nothing.
Tensor filter_push(Interpretable layer, const Tensor& values, const Tensor& category) {
  const auto leaf = values.clone().requires_grad_();
  (layer->mask_and_learn(leaf * 1.0, category) * 0.0).sum().backward();
  return leaf.grad();
}

TEST(Interpretable, InThePapersUnitIsTheReleasesTimesTheMeanPeak) {
  torch::manual_seed(9);
  const auto values = torch::rand({4, 1, 6, 6}) * 7.0;
  const auto category = torch::tensor({0, 0, 0, -1}, torch::kInt64);
  auto options = with_strength(0.5);
  options.strength_unit = StrengthUnit::absolute;
  Interpretable absolute(1, 6, 1, options);
  options.strength_unit = StrengthUnit::peak;
  Interpretable peak(1, 6, 1, options);
  const auto mean_peak = values.amax({2, 3}).mean();  // of all images, as the paper has it
  const auto expected = filter_push(absolute, values, category) * mean_peak;
  EXPECT_LT((filter_push(peak, values, category) - expected).abs().max().item<double>(), 1e-5);
  EXPECT_GT(expected.abs().max().item<double>(), 0.0);
}

// The paper keeps Z across batches. Two batches, memory 0.75: weights 0.25 * 0.75 and 0.25.
TEST(Interpretable, RemembersTheMeanOverAllMapsSeenForThePapersZ) {
  torch::manual_seed(10);
  PartOptions options = with_strength(0.05);
  options.rule = Rule::paper;
  options.exponent = Exponent::raw;
  options.partition_memory = 0.75;
  Interpretable layer(1, 4, 1, options);
  const auto category = torch::zeros({3}, torch::kInt64);
  const auto first = torch::rand({3, 1, 4, 4});
  const auto second = torch::rand({3, 1, 4, 4}) * 2.0;
  filter_push(layer, first, category);
  filter_push(layer, second, category);
  const auto mean_exp = [](const Tensor& maps) {  // of T^-: tau = 0.5 / n^2
    return (-0.5 * maps.flatten(1).mean(1)).exp().mean().item<double>();
  };
  const double expected = (0.75 * mean_exp(first) + mean_exp(second)) / 1.75;
  auto state = layer->named_buffers();
  const double kept = state["log_partition"][0][16].item<double>() -
                      std::log(state["partition_seen"].item<double>());
  EXPECT_NEAR(kept, std::log(expected), 1e-6);
}

TEST(Interpretable, LearnsASlopeFromEachFiltersSpread) {
  auto options = with_strength(0.0);
  options.beta_rule = BetaRule::learned;
  Interpretable layer(2, 14, 1, options);
  const double first = layer->filter_beta()[0].item<double>();
  EXPECT_NEAR(first, 2.0 * 2.0 * 14.0 / 13.0, 1e-5);  // b = 2 before anything was seen
  auto maps = torch::zeros({2, 2, 14, 14});
  maps.select(1, 0).select(1, 6).select(1, 6).fill_(1.0);  // filter 0: one cell, no spread: b = 3
  maps.select(1, 1).select(1, 2).select(1, 2).fill_(1.0);  // filter 1: a second cell two away,
  maps.select(1, 1).select(1, 2).select(1, 4).fill_(0.999999);  // RMS sqrt(2): b = 3 / sqrt(2)
  layer->mask_and_learn(maps, torch::zeros({2}, torch::kInt64));
  EXPECT_NEAR(layer->filter_beta()[0].item<double>(), 2.0 * 3.0 * 14.0 / 13.0, 1e-4);
  EXPECT_NEAR(layer->filter_beta()[1].item<double>(), 2.0 * 3.0 / std::sqrt(2.0) * 14.0 / 13.0,
              1e-4);
  // and masks by it: at b = 3 a neighbour three cells away is outside, at b = 2.1 inside
  const auto masked = layer->mask(torch::ones({1, 2, 14, 14}));
  EXPECT_LT(masked[0][0].gt(0).sum().item<int64_t>(), masked[0][1].gt(0).sum().item<int64_t>());
}

TEST(Interpretable, SoftensAfterASteepFallUntilItsActivationsRecoverOrStay) {
  torch::manual_seed(11);
  Interpretable layer(3, 6, 1, with_strength(0.05));
  const auto category = torch::zeros({4}, torch::kInt64);
  const auto values = torch::rand({4, 3, 6, 6});
  const auto softening_after = [&](double factor, int steps) {
    for (int i = 0; i < steps; ++i) step(layer, values * factor, category);
    layer->take_diagnostics();
    step(layer, values * factor, category);
    return layer->take_diagnostics().softening;
  };
  EXPECT_EQ(softening_after(1.0, 5), 1.0);
  EXPECT_LT(softening_after(0.02, 30), 0.01);
  EXPECT_EQ(softening_after(1.0, 40), 1.0);
  EXPECT_LT(softening_after(0.02, 30), 0.01);
  EXPECT_EQ(softening_after(0.02, 250), 1.0);  // this is how strong it is now
}

TEST(Interpretable, ReportsTheLossItsTermsAndTheFiltersOfEachCategory) {
  torch::manual_seed(12);
  Interpretable layer(3, 6, 2, with_strength(0.05));
  step(layer, torch::randn({4, 3, 6, 6}), batch_category());
  const auto seen = layer->take_diagnostics();
  EXPECT_LT(seen.loss, 0.0);
  EXPECT_NEAR(seen.prior_entropy, std::log(37.0), 1e-9);
  EXPECT_NEAR(seen.loss, -seen.prior_entropy + seen.category_entropy + seen.spatial_entropy, 1e-6);
  ASSERT_EQ(seen.filters_per_category.size(), 2U);
  EXPECT_EQ(seen.filters_per_category[0] + seen.filters_per_category[1], 3);
}

// The published rules push by dLoss/dx: at twice the activations and a scale-free exponent, half.
TEST(Interpretable, PushesByTheGradientOfTheMapsThemselvesInTheAbsoluteUnit) {
  torch::manual_seed(21);
  const auto values = torch::rand({4, 1, 6, 6});
  const auto category = torch::tensor({0, 0, 0, -1}, torch::kInt64);
  auto options = with_strength(0.5);
  options.strength_unit = StrengthUnit::absolute;
  Interpretable one(1, 6, 1, options);
  Interpretable two(1, 6, 1, options);
  const auto push = filter_push(one, values, category);
  EXPECT_LT((filter_push(two, values * 2.0, category) * 2.0 - push).abs().max().item<double>(),
            1e-5);
}

// omega: 0.5 / rho on images of the filter's category, rho its share of the data set; above ten
// categories 1 / C whatever the data set says; none in a binary task.
TEST(Interpretable, WeighsPositivesByTheDataSetsSharesAsTheReleaseDoes) {
  torch::manual_seed(31);
  const auto values = torch::rand({4, 3, 6, 6});
  const auto category = torch::zeros({4}, torch::kInt64);  // so all filters are of category 0
  const auto push_of = [&](std::size_t categories, double share) {
    auto options = method_options(Method::release);
    options.strength = 1.0;
    Interpretable layer(3, 6, static_cast<int64_t>(categories), options);
    std::vector<double> shares(categories, (1.0 - share) / static_cast<double>(categories));
    shares[0] = share;
    layer->set_category_shares(shares);
    return filter_push(layer, values, category).norm().item<double>();
  };
  const double binary = push_of(1, 0.4);
  EXPECT_NEAR(push_of(2, 0.2) / binary, 0.5 / 0.2, 1e-4);
  EXPECT_NEAR(push_of(10, 0.4) / binary, 0.5 / 0.4, 1e-4);
  EXPECT_NEAR(push_of(11, 0.4) / binary, 0.5 * 11.0, 1e-3);
}

// Loud on others alone: its images say nothing of its scale, and it must come down all the same.
TEST(Interpretable, PushesAFilterDownThatIsSilentOnItsCategoryAndLoudElsewhere) {
  Interpretable layer(1, 6, 1, with_strength(0.05));
  auto values = torch::zeros({4, 1, 6, 6});
  values.slice(0, 2) += torch::rand({2, 1, 6, 6}) + 1.0;
  const auto category = torch::tensor({0, 0, -1, -1}, torch::kInt64);
  const auto leaf = values.clone().requires_grad_();
  const auto output = layer->mask_and_learn(leaf * 1.0, category);
  output.sum().backward();
  const auto plain = values.clone().requires_grad_();
  layer->mask(plain * 1.0).sum().backward();
  const auto push = (leaf.grad() - plain.grad()).slice(0, 2);
  EXPECT_GT(push.min().item<double>(), 0.0);  // descent lowers every one of its cells
}

TEST(Interpretable, SoftensWhileItsActivationsRunAway) {
  torch::manual_seed(22);
  Interpretable layer(3, 6, 1, with_strength(0.05));
  const auto category = torch::zeros({4}, torch::kInt64);
  const auto values = torch::rand({4, 3, 6, 6});
  for (int i = 0; i < 40; ++i) step(layer, values, category);
  layer->take_diagnostics();
  for (int i = 0; i < 40; ++i) step(layer, values * 100.0, category);
  EXPECT_LT(layer->take_diagnostics().softening, 0.2);
}

TEST(Interpretable, DoesNotSoftenForFiltersThatNeverFired) {
  torch::manual_seed(23);
  Interpretable layer(10, 6, 1, with_strength(0.05));
  auto values = torch::rand({4, 10, 6, 6});
  values.slice(1, 1).zero_();  // nine of ten
  for (int i = 0; i < 20; ++i) step(layer, values, torch::zeros({4}, torch::kInt64));
  EXPECT_EQ(layer->take_diagnostics().softening, 1.0);
}

TEST(Interpretable, GivesEveryCategoryItsFiltersUnderTheBalancedAssignmentAndThenKeepsThem) {
  torch::manual_seed(24);
  Interpretable layer(7, 4, 3);
  const auto category = torch::arange(6, torch::kInt64).remainder(3);
  const auto see = [&](const Tensor& liked, int steps) {
    for (int i = 0; i < steps; ++i) {
      auto maps = torch::rand({6, 7, 4, 4}) * 0.1 + 0.01;
      maps += liked.view({6, 1, 1, 1}) * torch::linspace(0.5, 1.0, 7).view({1, 7, 1, 1});
      layer->mask_and_learn(maps, category);
    }
  };
  const auto counts = [&] { return torch::bincount(layer->filter_category(), {}, 3); };
  see((category == 0).to(torch::kFloat32), 4);  // all filters like category 0 best
  EXPECT_TRUE(torch::equal(counts(), torch::tensor({3, 2, 2}, torch::kInt64))) << counts();
  see((category == 0).to(torch::kFloat32), 44);
  const auto settled = layer->filter_category().clone();
  see((category == 1).to(torch::kFloat32), 60);
  EXPECT_TRUE(torch::equal(layer->filter_category(), settled));
}

TEST(Interpretable, AssignsAtTheSameBatchAfterItWasSavedAndLoaded) {
  torch::manual_seed(26);
  const auto category = torch::arange(6, torch::kInt64).remainder(3);
  std::vector<Tensor> batches;
  for (int i = 0; i < 20; ++i) batches.push_back(torch::rand({6, 7, 4, 4}));
  Interpretable whole(7, 4, 3);
  Interpretable first(7, 4, 3);
  Interpretable rest(7, 4, 3);
  for (int i = 0; i < 20; ++i)
    whole->mask_and_learn(batches[static_cast<std::size_t>(i)], category);
  for (int i = 0; i < 9; ++i) first->mask_and_learn(batches[static_cast<std::size_t>(i)], category);
  save_and_load(first, rest);
  for (int i = 9; i < 20; ++i) rest->mask_and_learn(batches[static_cast<std::size_t>(i)], category);
  expect_buffers(rest, buffers_of(whole));
}

// x * (1 - share + share * mask): none of it at 0, half way at 0.5.
TEST(Interpretable, MasksByTheShareThatIsInForceInTrainingAndWhollyOtherwise) {
  torch::manual_seed(29);
  const auto maps = torch::rand({4, 3, 6, 6});
  Interpretable layer(3, 6, 2, with_strength(0.0));
  const auto whole = layer->mask(maps);
  layer->set_mask_share(0.0);
  EXPECT_TRUE(torch::equal(layer->mask_and_learn(maps, batch_category()), maps));
  layer->set_mask_share(0.5);
  EXPECT_TRUE(torch::allclose(layer->mask_and_learn(maps, batch_category()), (maps + whole) / 2.0));
  EXPECT_TRUE(torch::equal(layer->mask(maps), whole));
}

}  // namespace
}  // namespace partwise::parts
