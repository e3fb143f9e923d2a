#include "partwise/explaining/shapley.h"

#include "partwise/base/error.h"
#include "partwise/base/random.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace partwise::explaining {
namespace {

constexpr int64_t kAnswersAtOnce = 4096;
constexpr int64_t kLeastOrders = 8;
constexpr int64_t kValuesAtOnce = int64_t{1} << 21U;  // fits a cache

// The head's answers to rows of sums, some at a time.
Tensor answers(const networks::Head& head, const Tensor& sums) {
  std::vector<Tensor> parts;
  for (const auto& rows : sums.split(kAnswersAtOnce))
    parts.push_back(head.logits(rows).to(torch::kCPU, torch::kFloat64));
  return torch::cat(parts);
}

// phi_i = sum over coalitions S without i of |S|! (n - |S| - 1)! / n! (v(S + i) - v(S))
Tensor exact_values(const networks::Head& head, const Tensor& added) {
  const int64_t players = added.size(0);
  const int64_t coalitions = int64_t{1} << players;
  auto members = torch::zeros({coalitions, players});
  auto* cell = members.data_ptr<float>();
  for (int64_t set = 0; set < coalitions; ++set) {
    for (int64_t i = 0; i < players; ++i) *cell++ = static_cast<float>((set >> i) & 1);
  }
  const auto worth = answers(head, torch::matmul(members.to(added.options()), added));
  std::vector<double> weight(static_cast<std::size_t>(players));  // [size of S]
  for (int64_t size = 0; size < players; ++size) {
    weight[static_cast<std::size_t>(size)] =
        std::exp(std::lgamma(static_cast<double>(size + 1)) +
                 std::lgamma(static_cast<double>(players - size)) -
                 std::lgamma(static_cast<double>(players + 1)));
  }
  // What a coalition's answer counts for each player: + where he is in it, - where he is not.
  auto counts = torch::zeros({players, coalitions}, torch::kFloat64);
  auto* count = counts.data_ptr<double>();
  for (int64_t i = 0; i < players; ++i) {
    for (int64_t set = 0; set < coalitions; ++set) {
      const auto size = static_cast<std::size_t>(__builtin_popcountll(static_cast<uint64_t>(set)));
      *count++ = ((set >> i) & 1) != 0 ? weight[size - 1] : -weight[size];
    }
  }
  return torch::matmul(counts, worth);
}

struct Drawn {
  Tensor values;
  Tensor errors;
  int64_t orders = 0;
};

// What has been added when nobody, the first, the first two ... of each order have joined:
// [orders, players + 1, width].  LibTorch's cumsum takes five times as long on a CPU.
Tensor joined_sums(const Tensor& added, const Tensor& orders) {
  const int64_t players = orders.size(1);
  const int64_t width = added.size(1);
  if (!added.is_cpu()) {
    const auto joined = added.index_select(0, orders.flatten().to(added.device()))
                            .view({orders.size(0), players, width})
                            .cumsum(1);
    return torch::cat({torch::zeros_like(joined.slice(1, 0, 1)), joined}, 1);
  }
  const auto rows = added.to(torch::kFloat32).contiguous();
  const auto order = orders.contiguous();
  auto sums = torch::empty({orders.size(0), players + 1, width});
  const auto* row = rows.data_ptr<float>();
  const auto* joins = order.data_ptr<int64_t>();
  auto* out = sums.data_ptr<float>();
  for (int64_t i = 0; i < orders.size(0); ++i) {
    float* sum = out + i * (players + 1) * width;
    std::fill(sum, sum + width, 0.0F);
    for (int64_t p = 0; p < players; ++p, sum += width) {
      const float* next = row + joins[i * players + p] * width;
      std::transform(sum, sum + width, next, sum + width, std::plus<>());
    }
  }
  return sums;
}

// What each player changes when the players join in each of these orders: [orders, players,
// outputs].
//   orders [orders, players] int64
Tensor changes_in_orders(const networks::Head& head, const Tensor& added, const Tensor& orders) {
  const auto sums = joined_sums(added, orders);
  const auto worth =
      answers(head, sums.flatten(0, 1)).view({orders.size(0), orders.size(1) + 1, -1});
  const auto steps = worth.slice(1, 1) - worth.slice(1, 0, -1);
  return torch::zeros_like(steps).scatter_(1, orders.unsqueeze(2).expand_as(steps), steps);
}

// An order and its reverse make one observation: what joining early overrates, joining late
// underrates.
Drawn drawn_values(const networks::Head& head, const Tensor& added, const ShapleyOptions& options) {
  const int64_t players = added.size(0);
  const double work = static_cast<double>(players) * static_cast<double>(head.work());
  const auto affordable = static_cast<int64_t>(options.most_work / work);
  const int64_t pairs =
      std::clamp(affordable, kLeastOrders, std::max(kLeastOrders, options.most_samples)) / 2;
  const int64_t at_once = std::max<int64_t>(1, kValuesAtOnce / (2 * (players + 1) * added.size(1)));
  std::vector<Tensor> observations;
  for (int64_t first = 0; first < pairs; first += at_once) {
    std::vector<int64_t> orders;
    for (int64_t pair = first; pair < std::min(first + at_once, pairs); ++pair) {
      std::vector<int64_t> order(static_cast<std::size_t>(players));
      std::iota(order.begin(), order.end(), int64_t{0});
      Random random(derive_seed({options.seed, static_cast<uint64_t>(pair)}));
      shuffle(order, random);
      orders.insert(orders.end(), order.begin(), order.end());
    }
    const auto forward = torch::tensor(orders, torch::kInt64).view({-1, players});
    observations.push_back((changes_in_orders(head, added, forward) +
                            changes_in_orders(head, added, forward.flip(1))) /
                           2.0);
  }
  const auto all = torch::cat(observations);
  const auto count = static_cast<double>(pairs);
  return {all.mean(0), all.std(0, /*unbiased=*/true) / std::sqrt(count), 2 * pairs};
}

}  // namespace

double Contributions::completeness_error() const {
  return (values.sum(0) - (whole - baseline)).abs().max().item<double>();
}

Contributions shapley_values(const networks::Head& head,
                             const Tensor& added,
                             const ShapleyOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto ends = answers(head, torch::stack({torch::zeros_like(added[0]), added.sum(0)}));
  const int64_t outputs = ends.size(1);
  Contributions result{torch::zeros({added.size(0), outputs}, torch::kFloat64),
                       torch::zeros({added.size(0), outputs}, torch::kFloat64), ends[0], ends[1]};
  const auto active = added.ne(0).any(1).nonzero().flatten();
  if (active.numel() == 0) return result;
  const auto playing = added.index_select(0, active);
  const auto index = active.to(torch::kCPU);
  if (playing.size(0) <= options.most_exact) {
    result.values.index_copy_(0, index, exact_values(head, playing));
    return result;
  }
  const auto drawn = drawn_values(head, playing, options);
  result.values.index_copy_(0, index, drawn.values);
  result.errors.index_copy_(0, index, drawn.errors);
  result.exact = false;
  result.orders = drawn.orders;
  return result;
}

Tensor silenced_alone(const networks::Head& head, const Tensor& added) {
  const torch::NoGradGuard no_grad;
  const auto all = added.sum(0, true);
  return answers(head, all) - answers(head, all - added);
}

}  // namespace partwise::explaining
