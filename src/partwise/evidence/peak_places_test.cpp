#include "partwise/evidence/peak_places.h"

#include "partwise/evidence/peak_gradients.h"
#include "partwise/metrics/evidence_place.h"
#include "partwise/models/activations.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::evidence {
namespace {

TEST(PeakPlaces, AreTheCentroidsInTheFiltersCategoryAndUnitCentresElsewhere) {
  torch::manual_seed(4);
  const networks::Network network{
      networks::build_architecture("tiny", networks::Arm::ordinary_layer, 2, {}, {.hidden = 8}),
      2,
      {},
      7};
  models::Examples rows;
  rows.pixels = torch::randint(256, {5, 3, 112, 112}, torch::kUInt8);
  rows.category = torch::tensor({0, 1, 1, 0, 1}, torch::kInt64);
  rows.samples.resize(5);
  const auto images = models::normalised(rows.pixels);
  for (std::size_t tap = 0; tap < 2; ++tap) {
    const PeakGradients peaks(network, images, tap);
    const auto seen = peaks.output().taps[tap].maps.detach().contiguous();
    const auto maps = metrics::summarise(models::view_of(seen), 1);
    std::vector<int64_t> filter_category(static_cast<std::size_t>(maps.filters), 1);
    filter_category[2] = 0;
    const auto centres = metrics::unit_centres(maps, models::tapped_layers(network)[tap].grid);
    const auto places = peak_places(network, tap, rows, maps, filter_category, "cpu");
    ASSERT_EQ(places.size(), centres.size());
    for (const int64_t filter : {2, 5}) {
      const auto energy = peaks.energy_of(std::vector<int64_t>(5, filter));
      for (int64_t row = 0; row < 5; ++row) {
        const auto at = static_cast<std::size_t>(filter * 5 + row);
        const bool own = rows.category[row].item<int64_t>() == filter_category[filter];
        const auto expected = own ? centroid(energy[row]).value_or(centres[at]) : centres[at];
        EXPECT_NEAR(places[at].x, expected.x, 1e-3);  // other batches round differently
        EXPECT_NEAR(places[at].y, expected.y, 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace partwise::evidence
