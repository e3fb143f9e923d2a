#include "partwise/explaining/shapley.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace partwise::explaining {
namespace {

class Shapley : public testing::Test {
 protected:
  Shapley() { torch::manual_seed(4); }

  // Small enough for all orders of joining.
  Tensor added(int64_t players) { return torch::randn({players, head_.width()}); }
  Tensor worth(const Tensor& sum) { return head_.logits(sum).to(torch::kFloat64); }

  // By definition: the mean over all orders.
  Tensor by_all_orders(const Tensor& added) {
    std::vector<int64_t> order(static_cast<std::size_t>(added.size(0)));
    std::iota(order.begin(), order.end(), int64_t{0});
    auto mean = torch::zeros({added.size(0), 3}, torch::kFloat64);
    double orders = 0.0;
    do {
      auto sum = torch::zeros({head_.width()});
      for (const int64_t player : order) {
        const auto joined = sum + added[player];
        mean[player] += worth(joined) - worth(sum);
        sum = joined;
      }
      orders += 1.0;
    } while (std::next_permutation(order.begin(), order.end()));
    return mean / orders;
  }

  const torch::NoGradGuard no_grad_;
  networks::Network network_{
      networks::build_architecture("tiny", networks::Arm::interpretable, 3, {}, {.hidden = 16}),
      3,
      {},
      2};
  networks::Head head_{network_};
};

TEST_F(Shapley, IsTheMeanOverAllOrdersOfJoining) {
  const auto players = added(5);
  const auto found = shapley_values(head_, players);
  EXPECT_TRUE(found.exact);
  // Single precision answers, summed over 120 orders.
  EXPECT_LT((found.values - by_all_orders(players)).abs().max().item<double>(), 1e-5);
}

TEST_F(Shapley, SumsToTheAnswerMinusTheBaselineExactAndDrawn) {
  for (const int64_t players : {1, 12, 13, 80}) {
    const auto found = shapley_values(head_, added(players));
    EXPECT_EQ(found.exact, players <= 12);
    EXPECT_LT(found.completeness_error(), 1e-4) << players;  // rounding of single precision
  }
}

TEST_F(Shapley, DrawnValuesLieWithinTheirStatedError) {
  const auto players = added(9);
  const auto exact = shapley_values(head_, players);
  ShapleyOptions options;
  options.most_exact = 0;
  options.most_samples = 400;
  const auto drawn = shapley_values(head_, players, options);
  EXPECT_EQ(drawn.orders, 400);
  const auto gaps = (drawn.values - exact.values).abs() / drawn.errors;
  EXPECT_LT(gaps.max().item<double>(), 4.5);  // 27 normal numbers stay below 4.5 but once in 5,000
  EXPECT_LT(gaps.square().mean().sqrt().item<double>(), 1.6);
  EXPECT_GT(drawn.errors.min().item<double>(), 0.0);
}

TEST_F(Shapley, SilentPlayersAddNothingAndLeaveTheRestExact) {
  auto players = added(20);
  players.slice(0, 10).zero_();
  const auto found = shapley_values(head_, players);
  EXPECT_TRUE(found.exact);
  EXPECT_EQ(found.values.slice(0, 10).abs().max().item<double>(), 0.0);
  const auto alone = shapley_values(head_, players.slice(0, 0, 10));
  EXPECT_LT((found.values.slice(0, 0, 10) - alone.values).abs().max().item<double>(), 1e-9);
}

TEST_F(Shapley, OfANetworkThatSeesNothingIsZero) {
  const auto found = shapley_values(head_, torch::zeros({4, head_.width()}));
  EXPECT_EQ(found.values.abs().max().item<double>(), 0.0);
  EXPECT_EQ(found.completeness_error(), 0.0);
}

TEST_F(Shapley, SilencingOneAloneIsItsLossOfTheWhole) {
  const auto players = added(6);
  const auto lost = silenced_alone(head_, players);
  const auto all = players.sum(0);
  for (int64_t i = 0; i < 6; ++i) {
    const auto wanted = worth(all) - worth(all - players[i]);
    EXPECT_LT((lost[i] - wanted).abs().max().item<double>(), 1e-5);
  }
}

}  // namespace
}  // namespace partwise::explaining
