#pragma once

#include "partwise/explaining/figures/plate.h"
#include "partwise/images/image.h"
#include "partwise/metrics/maps.h"
#include "partwise/views/heat_map.h"

#include <span>
#include <string>
#include <vector>

namespace partwise::explaining {

Tile photo_tile(images::Image photo, std::string note = {});

// A map's own cells as squares, `low` dark and `high` bright.
Tile cells_tile(std::span<const float> map, double low, double high, std::string note = {});

// A map over the photo: what reaches `highest` glows.
Tile heat_tile(const images::Image& photo,
               std::span<const float> map,
               const metrics::UnitGrid& grid,
               double highest,
               std::string note = {});

// The photo as it is where the evidence lies (evidence::kOutlinedShare of it, outlined), dimmed
// elsewhere; nothing is outlined where there is no evidence.  evidence [side * side]
Tile lit_tile(const images::Image& photo,
              std::span<const float> evidence,
              views::Colour colour,
              std::string note = {});

// Puts more on top of a tile.
void add_on_top(Tile& tile, std::function<void(views::Figure&, const Box&)> paint);

// Outlines in pixels of a picture of that side, on the place it is shown at; lines along its border
// stay inside.
std::vector<std::vector<Point>> moved_onto(const std::vector<std::vector<Point>>& outlines,
                                           double side,
                                           const Box& place);

}  // namespace partwise::explaining
