#include "partwise/training/epoch_order.h"

#include "partwise/base/random.h"

#include <algorithm>

namespace partwise::training {
namespace {

std::vector<int64_t> as_many(std::vector<int64_t> rows, int64_t count, Random& random) {
  if (count == 0 || rows.empty()) return rows;
  shuffle(rows, random);
  std::vector<int64_t> chosen;
  while (std::ssize(chosen) < count) {
    const auto more = std::min<std::ptrdiff_t>(std::ssize(rows), count - std::ssize(chosen));
    chosen.insert(chosen.end(), rows.begin(), rows.begin() + more);
  }
  return chosen;
}

}  // namespace

std::vector<int64_t> epoch_order(std::span<const int64_t> category,
                                 const TrainOptions& options,
                                 uint64_t seed) {
  std::vector<int64_t> positives;
  std::vector<int64_t> negatives;
  for (std::size_t row = 0; row < category.size(); ++row) {
    (category[row] < 0 ? negatives : positives).push_back(static_cast<int64_t>(row));
  }
  Random random(seed);
  auto order = as_many(std::move(positives), options.positives, random);
  const auto others = as_many(std::move(negatives), options.negatives, random);
  order.insert(order.end(), others.begin(), others.end());
  if (options.positives == 0 && options.negatives == 0) std::sort(order.begin(), order.end());
  shuffle(order, random);
  return order;
}

}  // namespace partwise::training
