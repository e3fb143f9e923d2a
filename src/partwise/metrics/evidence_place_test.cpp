#include "partwise/metrics/evidence_place.h"

#include "partwise/base/random.h"
#include "partwise/metrics/exhibit_fixture.h"

#include <gtest/gtest.h>

#include <vector>

namespace partwise::metrics {
namespace {

constexpr int64_t kRows = 60;
constexpr int64_t kFilters = 3;
constexpr InterpretabilityOptions kDiscs{.quantile = 0.02, .iou = 0.3, .radius = 0.08};
constexpr BootstrapOptions kBootstrap{.resamples = 40, .threads = 1};

// One category whose head, a disc, moves from row to row. Each filter fires in a single cell, drawn
// per row; its evidence is planted on the head.
struct Planted {
  Exhibit exhibit{kRows, kFilters, 10, {.offset = 5.0, .stride = 10.0, .input_side = 100}};
  std::vector<int64_t> filter_category = std::vector<int64_t>(kFilters, 0);
  std::vector<Point> heads;
  std::vector<Point> evidence;  // [filters, rows]
  MapSummaries maps;
  MapSource source;

  explicit Planted(bool constant_offset) {
    Random random(5);
    exhibit.truth.categories = {{"cat", {"nose"}, {"head"}}};
    evidence.resize(static_cast<std::size_t>(kFilters * kRows));
    for (int64_t row = 0; row < kRows; ++row) {
      const Point head{static_cast<double>(25 + random.below(50)),
                       static_cast<double>(25 + random.below(50))};
      heads.push_back(head);
      exhibit.truth.rows[row] = {0, {{head}}, {disc(100, head, 8.0)}};
      for (int64_t f = 0; f < kFilters; ++f) {
        evidence[f * kRows + row] = head;
        const int64_t cell = constant_offset ? cell_beside(head) : random.below(100);
        exhibit.at(row, f, cell) = 1.0F + static_cast<float>(random.uniform());
      }
    }
    maps = summarise(exhibit.maps(), 1);
    source = source_of(exhibit.maps(), 7);
  }

  // The cell that lies two cells right of the head's.
  static int64_t cell_beside(Point head) {
    return static_cast<int64_t>(head.y / 10.0) * 10 + static_cast<int64_t>(head.x / 10.0) + 2;
  }

  [[nodiscard]] PlacedLayer layer() const {
    return {maps, exhibit.grid, source, exhibit.grid, exhibit.truth, filter_category};
  }
  [[nodiscard]] PartInterpretability measure(const std::vector<Point>& places) const {
    return interpretability_at_evidence(layer(), places, kDiscs, kBootstrap);
  }
};

TEST(PartInterpretabilityAtEvidence, WithTheUnitsOwnCentreIsTheSame) {
  const Planted planted(true);
  const auto plain =
      part_interpretability(planted.source, planted.exhibit.grid, planted.exhibit.truth,
                            planted.filter_category, kDiscs, kBootstrap);
  const auto placed = planted.measure(unit_centres(planted.maps, planted.exhibit.grid));
  EXPECT_EQ(placed.finding.value, plain.finding.value);
  EXPECT_EQ(placed.finding.low, plain.finding.low);
  EXPECT_EQ(placed.empty_share, plain.empty_share);
  for (const auto* name : {"shuffled_images", "constant_centre"})
    EXPECT_EQ(placed.finding.controls.at(name), plain.finding.controls.at(name)) << name;
  for (const auto* name : {"unit_centre", "other_offset"})
    EXPECT_EQ(placed.finding.controls.at(name), plain.finding.value) << name;
}

TEST(LocationInstabilityAtEvidence, WithTheUnitsOwnCentreIsTheSame) {
  const Planted planted(false);
  const auto measure = [&](std::span<const Point> places) {
    return location_instability(planted.maps, planted.exhibit.grid, planted.exhibit.truth,
                                planted.filter_category, {}, kBootstrap, places);
  };
  const auto plain = measure({});
  const auto placed = measure(unit_centres(planted.maps, planted.exhibit.grid));
  EXPECT_EQ(placed.instability.value, plain.instability.value);
  EXPECT_EQ(placed.instability.controls, plain.instability.controls);
  EXPECT_EQ(placed.ratio.value, plain.ratio.value);
  EXPECT_EQ(placed.ratio.low, plain.ratio.low);
  // At the head itself the distance to it is 0 in every row.
  const auto found = measure(planted.evidence);
  EXPECT_EQ(found.instability.value, 0.0);
  EXPECT_EQ(found.ratio.value, 0.0);
  EXPECT_EQ(found.instability.controls.at("constant_centre"),
            plain.instability.controls.at("constant_centre"));
}

// Units know nothing of the head, their evidence lies on it: no offset of another row helps.
TEST(PartInterpretabilityAtEvidence, FindsEvidenceThatUnitsDoNotShow) {
  const Planted planted(false);
  const auto found = planted.measure(planted.evidence);
  EXPECT_DOUBLE_EQ(found.finding.value, 1.0 - found.empty_share);
  EXPECT_LT(found.empty_share, 0.2);
  for (const auto& [name, control] : found.finding.controls) EXPECT_LT(control, 0.3) << name;
}

// Units fire beside the head by the same step in every row, within half a cell: another row's
// offset finds it as well, the unit's centre does not.
TEST(PartInterpretabilityAtEvidence, TellsAConstantOffsetByTheOtherRows) {
  const Planted planted(true);
  const auto found = planted.measure(planted.evidence);
  const double all = 1.0 - found.empty_share;
  EXPECT_DOUBLE_EQ(found.finding.value, all);
  EXPECT_LT(found.finding.controls.at("unit_centre"), 0.05);
  // Up to a cell away from the head, the disc still holds enough of it in most rows.
  EXPECT_GT(found.finding.controls.at("other_offset"), 0.6 * all);
  EXPECT_LT(found.finding.controls.at("uniform_random"), 0.3);
}

TEST(LabelsAtEvidence, AreThoseOfTheDiscThere) {
  Planted planted(false);
  planted.exhibit.truth.categories[0].parts.push_back("corner");
  for (auto& row : planted.exhibit.truth.rows) row.parts.push_back(disc(100, {10.0, 10.0}, 8.0));
  const auto found = labels_at_evidence(planted.layer(), planted.evidence, kDiscs, kBootstrap);
  EXPECT_EQ(found.facts.at("share_of_filters").at("cat").at("head"), 1.0);
  EXPECT_GT(found.value, found.controls.at("unit_centre"));
  EXPECT_GT(found.value, found.controls.at("shuffled_images"));
}

}  // namespace
}  // namespace partwise::metrics
