#include "partwise/models/activations.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace partwise::models {
namespace {

TEST(ScratchMaps, GiveBackEveryRowAsOftenAsAsked) {
  std::vector<float> values(150 * 2 * 9);
  std::iota(values.begin(), values.end(), 0.5F);
  const auto rows = [&](std::size_t first, std::size_t count) {
    return metrics::Maps{std::span(values).subspan(first * 18, count * 18),
                         static_cast<int64_t>(count), 2, 3};
  };
  metrics::MapSource source;
  {
    ScratchMaps maps;
    maps.append(rows(0, 1));
    maps.append(rows(1, 100));
    maps.append(rows(101, 49));
    source = maps.source();
  }
  EXPECT_EQ(source.rows, 150);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<float> read(values.size());
    metrics::for_each_batch(source, [&](const metrics::Maps& batch, int64_t first_row) {
      std::copy(batch.values.begin(), batch.values.end(), read.begin() + first_row * 18);
    });
    EXPECT_EQ(read, values);
  }
}

TEST(ScratchMaps, OfNothingHaveNoRows) {
  const auto source = ScratchMaps().source();
  EXPECT_EQ(source.rows, 0);
  metrics::for_each_batch(source, [](const metrics::Maps&, int64_t) { FAIL(); });
}

}  // namespace
}  // namespace partwise::models
