#include "partwise/metrics/sample_deviations.h"

#include "partwise/base/random.h"
#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace partwise::metrics {
namespace {

TEST(SampleDeviations, AreThoseOfEachColumnToTheLastBit) {
  Random random(1);
  for (const std::size_t count : {2U, 3U, 7U, 100U}) {
    std::vector<Columns> rows(count);
    std::array<std::vector<double>, kColumns> columns;
    for (auto& row : rows) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        row[c] = random.normal();
        columns[c].push_back(row[c]);
      }
    }
    const auto found = sample_deviations(rows);
    for (std::size_t c = 0; c < kColumns; ++c) EXPECT_EQ(found[c], sample_deviation(columns[c]));
  }
}

}  // namespace
}  // namespace partwise::metrics
