#pragma once

#include "partwise/base/geometry.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/models/examples.h"
#include "partwise/networks/network.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace partwise::evidence {

// Where the peaks of a layer come from, [filters, rows] in pixels of the input: the centroid of a
// peak's energy (peak_gradients.h) in the rows of the filter's category on which it fires; the
// peak's unit centre in all others, and where the energy is zero.
//   maps: of the layer before the mask, over the rows; filter_category [filters]: as
//   rows.category has them
// A pass back through the network per filter and 64 rows of its category.
std::vector<Point> peak_places(const networks::Network& network,
                               std::size_t tap,
                               const models::Examples& rows,
                               const metrics::MapSummaries& maps,
                               std::span<const int64_t> filter_category,
                               const std::string& device);

}  // namespace partwise::evidence
