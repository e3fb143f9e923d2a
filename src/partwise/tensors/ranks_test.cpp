#include "partwise/tensors/ranks.h"

#include "partwise/tensors/ranks_fixture.h"
#include "partwise/tensors/torch.h"

#include <cstdlib>
#include <limits>

namespace partwise::tensors {
namespace {

class SeveralProcesses : public SeveralRanks {};

TEST_F(SeveralProcesses, AddCompareAndGatherWhatEachOfThemHas) {
  as_ranks(3, [](const Ranks& ranks) {
    const auto own = torch::tensor({1.0 + ranks.rank(), -1.0 * ranks.rank()}, torch::kFloat64);
    EXPECT_TRUE(torch::equal(ranks.sum(own), torch::tensor({6.0, -3.0}, torch::kFloat64)));
    EXPECT_TRUE(torch::equal(ranks.max(own), torch::tensor({3.0, 0.0}, torch::kFloat64)));
    EXPECT_NEAR(ranks.logsumexp(own)[0].item<double>(),
                std::log(std::exp(1) + std::exp(2) + std::exp(3)), 1e-14);
    const auto [begin, end] = ranks.share(7);
    const auto rows = torch::arange(7, torch::kInt64);
    EXPECT_TRUE(torch::equal(ranks.rows_of_all(rows.slice(0, begin, end), 7), rows));
    EXPECT_FALSE(ranks.leaders(!ranks.leads()));
  });
}

TEST_F(SeveralProcesses, CountMinusInfinityAsNothingInALogarithmicSum) {
  as_ranks(2, [](const Ranks& ranks) {
    const double nothing = -std::numeric_limits<double>::infinity();
    const auto own = torch::tensor({ranks.leads() ? 2.0 : nothing, nothing}, torch::kFloat64);
    const auto sum = ranks.logsumexp(own);
    EXPECT_EQ(sum[0].item<double>(), 2.0);
    EXPECT_EQ(sum[1].item<double>(), nothing);
  });
}

TEST_F(SeveralProcesses, SharesAreConsecutiveAndEvenAndLeaveNothingOut) {
  as_ranks(4, [](const Ranks& ranks) {
    const auto [begin, end] = ranks.share(10);
    EXPECT_GE(end - begin, 2);
    EXPECT_LE(end - begin, 3);
    const auto total = ranks.sum(torch::tensor({end - begin}, torch::kInt64));
    EXPECT_EQ(total.item<int64_t>(), 10);
  });
}

TEST_F(SeveralProcesses, LoseARankThatLeavesAtOnceAndSaySo) {
  const auto start = std::chrono::steady_clock::now();
  try {
    as_ranks(2, [](const Ranks& ranks) {
      if (ranks.rank() == 1) return;
      ranks.sum(torch::ones({1}));
    });
    FAIL() << "expected a LostRank";
  } catch (const LostRank& lost) {
    EXPECT_NE(std::string(lost.what()).find("--resume"), std::string::npos) << lost.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

// Buckets of 64 bytes hold two of the parameters each; the last parameter is used by nobody.
TEST_F(SeveralProcesses, SumTheirGradientsInBuckets) {
  as_ranks(2, [](const Ranks& ranks) {
    std::vector<Tensor> parameters;
    for (int i = 0; i < 6; ++i) parameters.push_back(torch::ones({3, 4}).requires_grad_());
    const auto unused = torch::ones({5}).requires_grad_();
    parameters.push_back(unused);
    GradientSum gradients(ranks, parameters, 64);
    for (int step = 0; step < 2; ++step) {
      auto loss = torch::zeros({});
      for (int i = 0; i < 6; ++i) loss = loss + (parameters[i] * (i + 10.0 * ranks.rank())).sum();
      for (auto& parameter : parameters) parameter.mutable_grad() = Tensor();
      loss.backward();
      gradients.finish();
      for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(torch::equal(parameters[i].grad(), torch::full({3, 4}, 2.0 * i + 10.0))) << i;
      }
      EXPECT_FALSE(unused.grad().defined());
    }
  });
}

// A chain x w0 w1 w2 w3 of one bucket each: when the gradient reaches the layer below a weight, the
// weights above it are on their way.
TEST_F(SeveralProcesses, SendGradientsOnTheirWayWhileTheBackwardPassGoesOn) {
  as_ranks(2, [](const Ranks& ranks) {
    std::vector<Tensor> parameters;
    for (int i = 0; i < 4; ++i) parameters.push_back(torch::full({4}, 1.0 + i).requires_grad_());
    GradientSum gradients(ranks, parameters, 1);
    std::vector<int64_t> seen;
    auto value = torch::ones({4});
    for (const auto& parameter : parameters) {
      value = value * parameter;
      value.register_hook([&](const Tensor&) { seen.push_back(gradients.started()); });
    }
    value.sum().backward();
    EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 2, 3}));
    gradients.finish();
    EXPECT_TRUE(torch::equal(parameters[0].grad(), torch::full({4}, 48.0)));  // 2 ranks x 2 3 4
  });
}

TEST(OneProcess, GetsBackWhatItGives) {
  const Ranks alone;
  const auto own = torch::rand({3});
  EXPECT_TRUE(alone.sum(own).is_same(own));
  EXPECT_TRUE(alone.logsumexp(own).is_same(own));
  EXPECT_EQ(alone.share(9).rows(), 9);
}

TEST(RankPlace, IsReadFromTorchrunsVariables) {
  const auto refused = [] {
    try {
      rank_place_from_environment();
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(rank_place_from_environment().count, 1);
  ::setenv("WORLD_SIZE", "4", 1);
  EXPECT_NE(refused().find("RANK = ''"), std::string::npos) << refused();
  ::setenv("RANK", "4", 1);
  EXPECT_NE(refused().find("[0, 3]"), std::string::npos) << refused();
  ::setenv("RANK", "3", 1);
  EXPECT_NE(refused().find("MASTER_ADDR"), std::string::npos) << refused();
  ::setenv("MASTER_ADDR", "node7", 1);
  ::setenv("MASTER_PORT", "29500", 1);
  ::setenv("LOCAL_RANK", "1", 1);
  const auto place = rank_place_from_environment();
  EXPECT_EQ(place.rank, 3);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.host, "node7");
  EXPECT_EQ(place.port, 29500);
  for (const char* name : {"WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK"}) {
    ::unsetenv(name);
  }
}

}  // namespace
}  // namespace partwise::tensors
