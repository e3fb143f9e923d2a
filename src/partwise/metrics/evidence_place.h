#pragma once

#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/part_labels.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

// A unit's centre is not where its evidence lies: the units of a top layer see half of the picture.
// The metrics below ask the questions of part_interpretability, part_labels and
// location_instability of another place: where in the image the peak comes from. `places` [filters,
// rows], pixels of the input: the centre of mass of (d peak / d pixel)^2 (evidence/peak_places.h).
// Nothing else changes: the same T_f, rows, disc radius and IoU.

// The unit centres of the peaks, as such places.
std::vector<Point> unit_centres(const MapSummaries& maps, const UnitGrid& grid);

// What a layer shows, before and after the mask, and what it is held against.
struct PlacedLayer {
  const MapSummaries& maps;  // before the mask
  const UnitGrid& grid;      // of those
  const MapSource& masked;
  const UnitGrid& masked_grid;
  const Truth& truth;
  std::span<const int64_t> filter_category;
};

// In a row with a unit above T_f one disc lies at the place of its peak's evidence. Controls beside
// shuffled_images and constant_centre: unit_centre (one such disc at the peak's unit centre: what
// drawing one disc in place of several does), other_offset (the disc at the unit centre moved by
// the offset of another row of the category, by a derangement per filter of its rows with a peak
// above T_f: what a constant offset would do) and uniform_random (the disc at the centre of a cell
// drawn uniformly per row).
PartInterpretability interpretability_at_evidence(const PlacedLayer& layer,
                                                  std::span<const Point> places,
                                                  const InterpretabilityOptions& options,
                                                  const BootstrapOptions& bootstrap);

// Mean IoU with the best part, the disc there. Controls: shuffled_images, constant_centre,
// unit_centre. Facts: share_of_filters, and same_part: the share of the filters that get the same
// label from the disc at the unit centre.
Finding labels_at_evidence(const PlacedLayer& layer,
                           std::span<const Point> places,
                           const InterpretabilityOptions& options,
                           const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
