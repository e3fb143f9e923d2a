#include "partwise/tensors/ranks.h"

#include "partwise/networks/network.h"
#include "partwise/tensors/ranks_fixture.h"
#include "partwise/tensors/torch.h"
#include "partwise/training/optimizer.h"
#include "partwise/training/training_state.h"

// A batch of 64 in one process, as 2 x 32 and as 4 x 16: the same training.
namespace partwise::training {
namespace {

using networks::Network;
using tensors::Ranks;

constexpr int64_t kImages = 64;
constexpr int64_t kPixels = 16;
constexpr int64_t kCategories = 3;
constexpr int kSteps = 2;

// As the nets of the catalogue, with two interpretable layers and batch norm on maps and vectors.
// No dropout: it draws from the process's generator, which these ranks, being threads, share.
networks::Architecture small_net() {
  using namespace networks;
  return {"small",
          kPixels,
          {
              {"conv1", Convolution{3, 6}},
              {"norm1", BatchNorm{6}},
              {"relu1", Relu{}},
              {"pool1", MaxPool{2, 2}},
              {"conv2", Convolution{6, 8}},
              {"relu2", Relu{}},
              {"conv2.mask", networks::Interpretable{}},
              {"new", Convolution{8, 8}},
              {"new.relu", Relu{}},
              {"new.mask", networks::Interpretable{}},
              {"pool", MaxPool{2, 2}},
              {"flatten", Flatten{}},
              {"fc1", Linear{8 * 4 * 4, 10}},
              {"fc1.norm", BatchNorm{10}},
              {"fc1.relu", Relu{}},
              {"out", Linear{10, kCategories}},
          },
          {}};
}

struct Batch {
  Tensor images;
  Tensor category;
};

// All of category 0 comes first, then 1, then 2: with 4 ranks, some never see one of them.
std::vector<Batch> draw_batches(torch::ScalarType type) {
  std::vector<Batch> all;
  for (int step = 0; step < kSteps; ++step) {
    torch::manual_seed(40 + step);
    const auto category = torch::arange(kImages, torch::kInt64) * kCategories / kImages;
    const auto images = torch::randn({kImages, 3, kPixels, kPixels}, torch::kFloat64) +
                        category.view({-1, 1, 1, 1}).to(torch::kFloat64);
    all.push_back({images.to(type), category.to(torch::kInt64)});
  }
  return all;
}

struct Outcome {
  std::vector<double> losses;
  std::vector<std::map<std::string, Tensor>> gradients;
  std::map<std::string, Tensor> state;
};

Outcome trained(parts::Rule rule, const std::vector<Batch>& batches, const Ranks& ranks) {
  parts::PartOptions options;
  options.rule = rule;
  options.strength = 0.1;
  Network network(small_net(), kCategories, options, 1);
  network.to_type(batches.front().images.scalar_type());
  network.set_ranks(ranks);
  Optimizer optimizer(UpdateRule::sgd, 0.0, network.parameters());
  tensors::GradientSum gradient_sum(ranks, network.parameters_in_order(), 2048);
  Outcome outcome;
  for (const auto& batch : batches) {
    const auto [begin, end] = ranks.share(kImages);
    const auto output = network.train(batch.images.slice(0, begin, end), batch.category);
    const auto loss =
        torch::cross_entropy_loss(output.logits, batch.category.slice(0, begin, end)) *
        (static_cast<double>(end - begin) / kImages);
    outcome.losses.push_back(ranks.sum(loss).item<double>());
    optimizer.zero_gradients();
    loss.backward();
    gradient_sum.finish();
    auto& gradients = outcome.gradients.emplace_back();
    for (const auto& [name, parameter] : network.parameters()) {
      gradients[name] = parameter.grad().clone();
    }
    optimizer.limit_gradients(optimizer.gradient_norm().item<double>(), 1.0);
    optimizer.step(0.1);
  }
  require_equal_weights(ranks, network);
  for (const auto& [name, tensor] : network.state()) outcome.state[name] = tensor.detach();
  return outcome;
}

double difference(const Tensor& one, const Tensor& other) {
  const auto same = torch::where(one.eq(other), torch::zeros_like(one), one - other);  // -inf
  const auto size = other.nan_to_num(0.0, 0.0, 0.0).norm();
  return (same.norm() / size.clamp_min(1e-30)).item<double>();
}

void compare(torch::ScalarType type, double limit) {
  const auto batches = draw_batches(type);
  for (const auto rule : values_of<parts::Rule>()) {
    const auto whole = trained(rule, batches, {});
    for (const int count : {2, 4}) {
      tensors::as_ranks(count, [&](const Ranks& ranks) {
        SCOPED_TRACE(fmt::format("{}, rank {} of {}", word_of(rule), ranks.rank(), count));
        const auto own = trained(rule, batches, ranks);
        for (std::size_t step = 0; step < kSteps; ++step) {
          EXPECT_LT(std::abs(own.losses[step] / whole.losses[step] - 1.0), limit);
          for (const auto& [name, gradient] : whole.gradients[step]) {
            // Batch norm takes a constant away, so the bias below it has no gradient but rounding.
            if (name == "conv1.bias" || name == "fc1.bias") continue;
            EXPECT_LT(difference(own.gradients[step].at(name), gradient), limit)
                << name << ", step " << step;
          }
        }
        for (const auto& [name, tensor] : whole.state) {
          if (name == "conv1.bias" || name == "fc1.bias") continue;
          EXPECT_LT(difference(own.state.at(name), tensor), limit) << name;
        }
      });
    }
  }
}

class RanksTrain : public tensors::SeveralRanks {};

TEST_F(RanksTrain, WithTheLossesGradientsAndStatisticsOfOneProcessInDoublePrecision) {
  compare(torch::kFloat64, 1e-10);
}

TEST_F(RanksTrain, WithTheLossesGradientsAndStatisticsOfOneProcessInSinglePrecision) {
  compare(torch::kFloat32, 1e-5);
}

// The control: without the other ranks' statistics the same comparison fails.
TEST_F(RanksTrain, OtherwiseIfTheyDoNotShareTheirStatistics) {
  const auto batches = draw_batches(torch::kFloat64);
  const auto whole = trained(parts::Rule::release, batches, {});
  tensors::as_ranks(2, [&](const Ranks& ranks) {
    Network network(small_net(), kCategories, {}, 1);
    network.to_type(torch::kFloat64);
    const auto& batch = batches.front();
    const auto [begin, end] = ranks.share(kImages);
    network.train(batch.images.slice(0, begin, end), batch.category.slice(0, begin, end));
    const auto state = network.state();
    for (const char* name :
         {"norm1.running_mean", "conv2.mask.category_mean", "conv2.mask.peak_scale"}) {
      EXPECT_GT(difference(state.at(name).detach(), whole.state.at(name)), 0.01) << name;
    }
  });
}

}  // namespace
}  // namespace partwise::training
