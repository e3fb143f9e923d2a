#include "partwise/metrics/evidence_place.h"

#include <algorithm>
#include <utility>

namespace partwise::metrics {
namespace {

constexpr uint64_t kOffsetStream = 0x6f666673;
constexpr uint64_t kPlaceStream = 0x706c6163;

// The intervals of controls are not shown.
BootstrapOptions without_intervals(BootstrapOptions bootstrap) {
  bootstrap.resamples = 10;
  return bootstrap;
}

// The unit centres, moved by what the evidence of another row lies beside its own.
std::vector<Point> with_other_offsets(const PlacedLayer& layer,
                                      std::span<const Point> places,
                                      std::span<const FilterInterpretability> filters,
                                      const BootstrapOptions& bootstrap) {
  const auto centres = unit_centres(layer.maps, layer.grid);
  auto moved = centres;
  const auto rows_of_category = rows_by_category(layer.truth);
  for (int64_t f = 0; f < layer.maps.filters; ++f) {
    const auto& filter = filters[f];
    if (filter.category < 0) continue;
    std::vector<int64_t> rows;
    for (const int64_t row : rows_of_category[filter.category]) {
      if (static_cast<double>(layer.maps.peaks_of(f)[row]) > filter.threshold) rows.push_back(row);
    }
    auto random = control_random(bootstrap, kOffsetStream, f);
    const auto partner = derangement(rows.size(), random);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int64_t here = f * layer.maps.rows + rows[i];
      const int64_t there = f * layer.maps.rows + rows[partner[i]];
      moved[here].x += places[there].x - centres[there].x;
      moved[here].y += places[there].y - centres[there].y;
    }
  }
  return moved;
}

std::vector<Point> random_places(const PlacedLayer& layer, const BootstrapOptions& bootstrap) {
  std::vector<Point> places;
  places.reserve(layer.maps.cells.size());
  const int64_t side = layer.maps.side;
  for (int64_t f = 0; f < layer.maps.filters; ++f) {
    auto random = control_random(bootstrap, kPlaceStream, f);
    for (int64_t row = 0; row < layer.maps.rows; ++row) {
      const int64_t cell = random.below(side * side);
      places.push_back(layer.grid.centre(cell / side, cell % side));
    }
  }
  return places;
}

}  // namespace

std::vector<Point> unit_centres(const MapSummaries& maps, const UnitGrid& grid) {
  std::vector<Point> centres;
  centres.reserve(maps.cells.size());
  for (const int32_t cell : maps.cells)
    centres.push_back(grid.centre(cell / maps.side, cell % maps.side));
  return centres;
}

PartInterpretability interpretability_at_evidence(const PlacedLayer& layer,
                                                  std::span<const Point> places,
                                                  const InterpretabilityOptions& options,
                                                  const BootstrapOptions& bootstrap) {
  const auto at = [&](std::span<const Point> where, const BootstrapOptions& resampling) {
    return part_interpretability(layer.masked, layer.masked_grid, layer.truth,
                                 layer.filter_category, options, resampling, {.places = where});
  };
  auto found = at(places, bootstrap);
  const auto control = [&](const std::vector<Point>& where) {
    return at(where, without_intervals(bootstrap)).finding.value;
  };
  auto& controls = found.finding.controls;
  controls["unit_centre"] = control(unit_centres(layer.maps, layer.grid));
  controls["other_offset"] = control(with_other_offsets(layer, places, found.filters, bootstrap));
  controls["uniform_random"] = control(random_places(layer, bootstrap));
  return found;
}

Finding labels_at_evidence(const PlacedLayer& layer,
                           std::span<const Point> places,
                           const InterpretabilityOptions& options,
                           const BootstrapOptions& bootstrap) {
  const auto at = [&](std::span<const Point> where, const BootstrapOptions& resampling) {
    return part_labels(layer.masked, layer.masked_grid, layer.truth, layer.filter_category, options,
                       resampling, {.places = where});
  };
  auto found = at(places, bootstrap);
  const auto centres = unit_centres(layer.maps, layer.grid);
  const auto beside = at(centres, without_intervals(bootstrap));
  auto finding = std::move(found.iou.finding);
  finding.controls["unit_centre"] = beside.iou.finding.value;
  ExistingMean same;
  for (std::size_t f = 0; f < found.parts.size(); ++f) {
    if (found.parts[f] >= 0) same.add(found.parts[f] == beside.parts[f] ? 1.0 : 0.0);
  }
  finding.facts["same_part"] = same.value();
  return finding;
}

}  // namespace partwise::metrics
