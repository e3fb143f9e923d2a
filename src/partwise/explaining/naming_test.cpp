#include "partwise/explaining/naming.h"

#include <gtest/gtest.h>

namespace partwise::explaining {
namespace {

constexpr int64_t kSide = 100;

metrics::PixelSet disc(Point centre, double radius) {
  metrics::PixelSet set(kSide);
  set.insert_disc(centre, radius);
  return set;
}

// One category; on row i the head lies at (20 + 3 i, 30), the torso always in the middle.
metrics::Truth animals(int64_t rows, bool regions) {
  metrics::Truth truth{kSide, {{"fox", {"head", "torso"}, {"head", "torso"}}}, {}};
  for (int64_t row = 0; row < rows; ++row) {
    const Point head{20.0 + 3.0 * static_cast<double>(row), 30.0};
    const Point torso{50.0, 70.0};
    metrics::RowTruth one;
    one.category = 0;
    one.landmarks = regions ? std::vector<std::vector<Point>>(2)
                            : std::vector<std::vector<Point>>{{head}, {torso}};
    one.parts = regions ? std::vector{disc(head, 9.0), disc(torso, 22.0)}
                        : std::vector(2, metrics::PixelSet(kSide));
    truth.rows.push_back(one);
  }
  return truth;
}

std::vector<Sighting> at_heads(int64_t rows, double beside = 0.0) {
  std::vector<Sighting> sightings;
  for (int64_t row = 0; row < rows; ++row)
    sightings.push_back({row, {20.0 + 3.0 * static_cast<double>(row) + beside, 30.0}});
  return sightings;
}

std::vector<Sighting> at_one_place(int64_t rows, Point place) {
  std::vector<Sighting> sightings;
  for (int64_t row = 0; row < rows; ++row) sightings.push_back({row, place});
  return sightings;
}

TEST(NameByTruth, FollowsThePartAcrossImages) {
  for (const bool regions : {true, false}) {
    const auto truth = animals(16, regions);
    const std::vector<std::vector<Sighting>> sightings{at_heads(16)};
    const auto named = name_by_truth(sightings, std::vector<int64_t>{0}, truth);
    EXPECT_EQ(named[0].name, "head");
    EXPECT_EQ(named[0].source, regions ? NameSource::regions : NameSource::landmarks);
    EXPECT_DOUBLE_EQ(named[0].rate, 1.0);
    EXPECT_LT(named[0].control, 0.6);
    EXPECT_EQ(named[0].sightings, 16);
  }
}

TEST(NameByTruth, GivesNoNameToWhatAFixedPlaceWouldHitAsWell) {
  // Always on the torso, as any filter that looks at the middle would be.
  const std::vector<std::vector<Sighting>> sightings{
      at_one_place(16, {50.0, 70.0}), at_one_place(16, {5.0, 95.0}), {}};
  const auto named = name_by_truth(sightings, std::vector<int64_t>{0, 0, 0}, animals(16, true));
  for (const auto& filter : named) {
    EXPECT_EQ(filter.name, "");
    EXPECT_EQ(filter.source, NameSource::nobody);
  }
}

TEST(NameByTruth, IsTheSameWhateverOtherFiltersThereAre) {
  const auto truth = animals(16, true);
  const std::vector<std::vector<Sighting>> few{at_heads(16)};
  const std::vector<std::vector<Sighting>> many{at_heads(16), at_heads(16, 4.0)};
  const auto alone = name_by_truth(few, std::vector<int64_t>{0}, truth);
  const auto beside = name_by_truth(many, std::vector<int64_t>{0, 0}, truth);
  EXPECT_EQ(alone[0].control, beside[0].control);
}

TEST(NameByPlace, PutsFiltersOfOnePlaceUnderOneName) {
  const std::vector<std::vector<Sighting>> sightings{
      at_heads(8),       at_one_place(8, {50.0, 70.0}), at_heads(8, 3.0),
      at_heads(8, -3.0), at_one_place(8, {52.0, 71.0}), at_one_place(2, {90.0, 90.0})};
  const auto named = name_by_place(sightings, std::vector<int64_t>(6, 0), kSide);
  EXPECT_EQ(named[0].name, "part A");  // the largest group
  EXPECT_EQ(named[2].name, "part A");
  EXPECT_EQ(named[3].name, "part A");
  EXPECT_EQ(named[1].name, "part B");
  EXPECT_EQ(named[4].name, "part B");
  EXPECT_EQ(named[0].source, NameSource::place);
  EXPECT_EQ(named[5].name, "");  // seen too rarely
}

TEST(NameByPlace, KeepsCategoriesApart) {
  const std::vector<std::vector<Sighting>> sightings{at_heads(8), at_heads(8)};
  const auto named = name_by_place(sightings, std::vector<int64_t>{0, 1}, kSide);
  EXPECT_EQ(named[0].name, "part A");
  EXPECT_EQ(named[1].name, "part A");
  EXPECT_EQ(named[1].category, 1);
}

}  // namespace
}  // namespace partwise::explaining
