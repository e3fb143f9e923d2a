#include "partwise/explaining/part_claims.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/explaining/shapley.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace partwise::explaining {
namespace {

constexpr int64_t kRowsAtOnce = 32;
constexpr uint64_t kRandomSharesStream = 0x73686172;

using AllClaims = std::map<Method, std::vector<Claim>>;

// The filters of a layer by their names; those without one are the group "".
struct NameGroups {
  std::vector<std::string> names;
  Tensor group_of_filter;  // [filters] int64

  explicit NameGroups(const LayerParts& layer) {
    std::map<std::string, int64_t> place;
    for (const auto& filter : layer.filters) place.emplace(filter.name, 0);
    for (auto& [name, index] : place) {
      index = std::ssize(names);
      names.push_back(name);
    }
    std::vector<int64_t> groups;
    for (const auto& filter : layer.filters) groups.push_back(place.at(filter.name));
    group_of_filter = torch::tensor(groups, torch::kInt64);
  }
  // [filters, width] -> [groups, width]
  [[nodiscard]] Tensor sums(const Tensor& added) const {
    return torch::zeros({std::ssize(names), added.size(1)}, added.options())
        .index_add_(0, group_of_filter.to(added.device()), added);
  }
};

// What the groups' values [groups, outputs] say of the visible parts.
Claim claim_of_groups(const ClaimedRow& row, const NameGroups& groups, const Tensor& values) {
  const auto value = values.accessor<double, 2>();
  Claim claim;
  double elsewhere = 0.0;
  double sum = 0.0;
  for (std::size_t g = 0; g < groups.names.size(); ++g) {
    const double positive = std::max(value[static_cast<int64_t>(g)][row.decided], 0.0);
    sum += positive;
    if (std::find(row.names.begin(), row.names.end(), groups.names[g]) == row.names.end())
      elsewhere += positive;
  }
  claim.elsewhere = metrics::quotient(elsewhere, sum);
  for (const auto& name : row.names) {
    const auto found = std::find(groups.names.begin(), groups.names.end(), name);
    const int64_t group = found - groups.names.begin();
    const bool known = found != groups.names.end();
    claim.decided.push_back(known ? value[group][row.decided] : 0.0);
    if (row.runner_up >= 0) claim.runner_up.push_back(known ? value[group][row.runner_up] : 0.0);
  }
  return claim;
}

Claim negated(Claim claim) {
  for (auto* numbers : {&claim.decided, &claim.runner_up}) {
    for (double& number : *numbers) number = -number;
  }
  claim.elsewhere = metrics::kNaN;
  return claim;
}

Claim class_blind(const ClaimedRow& row, const std::vector<double>& numbers) {
  return {numbers, row.runner_up >= 0 ? numbers : std::vector<double>{}};
}

void add_controls(const ClaimedRow& row, uint64_t seed, std::size_t index, AllClaims& claims) {
  std::vector<double> areas;
  for (const auto& part : row.parts) areas.push_back(static_cast<double>(part.area()));
  claims[Method::by_area].push_back(class_blind(row, areas));
  claims[Method::all_equal].push_back(class_blind(row, std::vector<double>(row.parts.size(), 1.0)));
  Random random(derive_seed({seed, kRandomSharesStream, index}));
  Claim drawn;
  for (std::size_t i = 0; i < row.parts.size(); ++i) drawn.decided.push_back(random.uniform());
  for (std::size_t i = 0; row.runner_up >= 0 && i < row.parts.size(); ++i)
    drawn.runner_up.push_back(random.uniform());
  claims[Method::random_shares].push_back(std::move(drawn));
}

std::span<const float> pixels_of(const Tensor& map) {
  return {map.data_ptr<float>(), static_cast<std::size_t>(map.numel())};
}

// Of one class on one row: filters and what each is worth.
struct Weighty {
  std::vector<int64_t> filters;
  std::vector<double> values;
};

Weighty weightiest(const Tensor& values, int64_t output, int64_t count) {
  const auto value = values.accessor<double, 2>();
  std::vector<int64_t> order(static_cast<std::size_t>(values.size(0)));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::abs(value[a][output]) > std::abs(value[b][output]);
  });
  Weighty found;
  for (const int64_t filter : order) {
    if (std::ssize(found.filters) == count || value[filter][output] == 0.0) break;
    found.filters.push_back(filter);
    found.values.push_back(value[filter][output]);
  }
  return found;
}

// Each row's weightiest filters laid on the image, one map per row: a filter's value spread like
// its evidence.
class LaidFilters {
 public:
  LaidFilters(const evidence::PeakGradients& peaks, int64_t side, int threads)
      : peaks_(peaks), side_(side), threads_(threads) {}

  std::vector<std::vector<float>> maps(const std::vector<Weighty>& rows) {
    std::vector<std::vector<float>> laid(
        rows.size(), std::vector<float>(static_cast<std::size_t>(side_ * side_)));
    std::size_t most = 0;
    for (const auto& row : rows) most = std::max(most, row.filters.size());
    for (std::size_t turn = 0; turn < most; ++turn) {
      std::vector<int64_t> filter_of_row;
      for (const auto& row : rows)
        filter_of_row.push_back(turn < row.filters.size() ? row.filters[turn] : 0);
      const auto energy = peaks_.energy_of(filter_of_row);
      parallel_for(std::ssize(rows), threads_, [&](int64_t r) {
        const auto& row = rows[static_cast<std::size_t>(r)];
        if (turn >= row.filters.size()) return;
        const auto map = evidence::evidence_map(energy[r]);
        const double sum = std::accumulate(map.begin(), map.end(), 0.0);
        if (!(sum > 0.0)) return;
        auto& into = laid[static_cast<std::size_t>(r)];
        for (std::size_t p = 0; p < map.size(); ++p)
          into[p] += static_cast<float>(row.values[turn] * map[p] / sum);
      });
    }
    return laid;
  }

 private:
  const evidence::PeakGradients& peaks_;
  int64_t side_;
  int threads_;
};

}  // namespace

Claim claim_of_maps(const ClaimedRow& row,
                    std::span<const float> decided,
                    std::span<const float> runner_up) {
  const int64_t side = row.animal.side();
  const auto inside = [&](const metrics::PixelSet& set, std::span<const float> map) {
    double sum = 0.0;
    for (int64_t y = 0; y < side; ++y) {
      for (int64_t x = 0; x < side; ++x) {
        if (set.contains(x, y)) sum += map[static_cast<std::size_t>(y * side + x)];
      }
    }
    return sum;
  };
  Claim claim;
  for (const auto& part : row.parts) {
    claim.decided.push_back(inside(part, decided));
    if (!runner_up.empty()) claim.runner_up.push_back(inside(part, runner_up));
  }
  double positive = 0.0;
  double outside = 0.0;
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      const double value = std::max(decided[static_cast<std::size_t>(y * side + x)], 0.0F);
      positive += value;
      if (!row.animal.contains(x, y)) outside += value;
    }
  }
  claim.elsewhere = metrics::quotient(outside, positive);
  return claim;
}

std::map<Method, std::vector<Claim>> claims_of_methods(const networks::Network& network,
                                                       const LayerParts& layer,
                                                       const AdditiveExplainer& additive,
                                                       const Tensor& pixels,
                                                       const std::vector<ClaimedRow>& rows,
                                                       const models::Resources& resources,
                                                       const ClaimOptions& options) {
  const networks::Head head(network);
  const NameGroups groups(layer);
  const std::size_t tap = network.architecture().taps.size() - 1;
  const int64_t side = network.architecture().input_side;
  const int64_t count = std::ssize(rows);
  AllClaims claims;
  Progress progress("explaining", count, "images");
  for (int64_t first = 0; first < count; first += kRowsAtOnce) {
    const int64_t end = std::min(first + kRowsAtOnce, count);
    const auto images =
        models::normalised(pixels.slice(0, first, end).to(torch::Device(resources.device)));
    std::vector<int64_t> decided;
    std::vector<int64_t> runner_up;
    for (int64_t i = first; i < end; ++i) {
      const auto& row = rows[static_cast<std::size_t>(i)];
      decided.push_back(row.decided);
      runner_up.push_back(std::max<int64_t>(row.runner_up, 0));
    }
    const GradientMaps gradients(network, images);
    const auto of_decided = gradients.of(decided);
    const auto of_runner_up = gradients.of(runner_up);
    const auto& features = gradients.output().features;
    ensure(
        features.size(1) == std::ssize(layer.filters),
        "{}: its fully connected layers see {} maps, its last layer has {} filters; parts cannot "
        "be silenced one by one",
        network.architecture().net, features.size(1), layer.filters.size());
    Tensor added;
    Tensor distilled;  // [rows, filters, outputs]
    {
      const torch::NoGradGuard no_grad;
      added = head.by_filter(features.detach());
      distilled = additive.contributions(activity_of(features)).to(torch::kFloat64);
    }
    std::vector<Weighty> for_decided;
    std::vector<Weighty> for_runner_up;
    for (int64_t i = first; i < end; ++i) {
      if (interrupt_requested()) throw Interrupted("interrupted while explaining images");
      const auto index = static_cast<std::size_t>(i);
      const auto& row = rows[index];
      const int64_t at = i - first;
      const auto maps_claim = [&](const Tensor& one, const Tensor& other) {
        return claim_of_maps(row, pixels_of(one),
                             row.runner_up >= 0 ? pixels_of(other) : std::span<const float>{});
      };
      const auto by_name = groups.sums(added[at]);
      ShapleyOptions exact;
      exact.seed = derive_seed({options.seed, index});
      auto claim = claim_of_groups(row, groups, shapley_values(head, by_name, exact).values);
      claims[Method::inverse].push_back(negated(claim));
      claims[Method::parts_by_name].push_back(std::move(claim));
      claims[Method::silencing_by_name].push_back(
          claim_of_groups(row, groups, silenced_alone(head, by_name)));
      claims[Method::distilled_by_name].push_back(
          claim_of_groups(row, groups, groups.sums(distilled[at])));
      claims[Method::grad_cam].push_back(
          maps_claim(of_decided.grad_cam[at], of_runner_up.grad_cam[at]));
      claims[Method::input_times_gradient].push_back(
          maps_claim(of_decided.input_times_gradient[at], of_runner_up.input_times_gradient[at]));
      const auto covered = occlusion_maps(network, images[at], options.occlusion);
      claims[Method::occlusion].push_back(
          maps_claim(covered[row.decided], covered[std::max<int64_t>(row.runner_up, 0)]));
      add_controls(row, options.seed, index, claims);
      ShapleyOptions drawn = exact;
      drawn.most_samples = options.orders;
      const auto values = shapley_values(head, added[at], drawn).values;
      for_decided.push_back(weightiest(values, row.decided, options.filters));
      for_runner_up.push_back(
          row.runner_up >= 0 ? weightiest(values, row.runner_up, options.filters) : Weighty{});
      progress.advance();
    }
    const evidence::PeakGradients peaks(network, images, tap);
    LaidFilters laid(peaks, side, resources.threads);
    const auto maps_decided = laid.maps(for_decided);
    const auto maps_runner_up = laid.maps(for_runner_up);
    for (int64_t i = first; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i - first);
      const auto& row = rows[static_cast<std::size_t>(i)];
      claims[Method::parts_by_place].push_back(
          claim_of_maps(row, maps_decided[at],
                        row.runner_up >= 0 ? std::span<const float>(maps_runner_up[at])
                                           : std::span<const float>{}));
    }
  }
  return claims;
}

}  // namespace partwise::explaining
