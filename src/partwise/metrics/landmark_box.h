#pragma once

#include "partwise/base/geometry.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/maps.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

// Whether the square of half side `half` about `centre` holds one of the points, its rim included.
bool box_holds(Point centre, double half, std::span<const Point> points);

// Where a map peaks, in pixels of the input: the unit centre of its strongest cell.
Point peak_centre(const MapSummaries& maps, const UnitGrid& grid, int64_t filter, int64_t row);

// The centre of a square picture, and the point nearest to `centre` about which a square of half
// side `half` lies inside it.
Point picture_centre(int64_t side);
Point pushed_inside(Point centre, double half, int64_t side);

}  // namespace partwise::metrics
