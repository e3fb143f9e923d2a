#include "partwise/metrics/maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

const float kNaN = std::nanf("");

TEST(PeakCell, IsTheFirstOfEqualMaxima) {
  EXPECT_EQ(peak(std::vector<float>{0, 2, 1, 2}).cell, 1);
  EXPECT_EQ(peak(std::vector<float>{0, 0, 0, 0}).cell, 0);
}

TEST(PeakCell, IsNeverNaNUnlessEverythingIs) {
  EXPECT_EQ(peak(std::vector<float>{kNaN, -3, kNaN, -2}).cell, 3);
  const auto found = peak(std::vector<float>{kNaN, kNaN});
  EXPECT_EQ(found.cell, 0);
  EXPECT_EQ(found.value, -std::numeric_limits<float>::infinity());
}

TEST(UnitGrid, PutsRowsOnYAndColumnsOnX) {
  const UnitGrid grid{.offset = 7.5, .stride = 16.0, .input_side = 224};
  const auto centre = grid.centre(1, 3);
  EXPECT_EQ(centre.x, 55.5);
  EXPECT_EQ(centre.y, 23.5);
}

TEST(Maps, AreRowMajorByRowThenFilter) {
  const std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const Maps maps{.values = values, .rows = 2, .filters = 2, .side = 2};
  EXPECT_EQ(maps.map(1, 0)[1], 9.0F);
  EXPECT_NO_THROW(expect_consistent(maps));
}

TEST(Maps, OfTheWrongSizeAreOurBug) {
  const std::vector<float> values(7);
  EXPECT_THROW(expect_consistent(Maps{.values = values, .rows = 2, .filters = 1, .side = 2}),
               std::logic_error);
}

TEST(Mass, CountsOnlyWhatIsPositive) {
  EXPECT_EQ(mass(2.5F), 2.5);
  EXPECT_EQ(mass(-1.0F), 0.0);
  EXPECT_EQ(mass(kNaN), 0.0);
}

}  // namespace
}  // namespace partwise::metrics
