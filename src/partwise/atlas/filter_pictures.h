#pragma once

#include "partwise/atlas/run_atlas.h"
#include "partwise/base/options.h"
#include "partwise/images/image.h"

#include <cstdint>
#include <optional>

namespace partwise::atlas {

// What is drawn of a filter on one row, as the paper's figures draw it
// (explaining/figures/tiles.h):
//   crop    what the network was shown
//   map     the map before the mask over it; its peak glows
//   mask    what the mask lets through, cell by cell; of layers with a mask
//   masked  the map behind it, on the same scale
//   field   the crop as it is where the peak's evidence lies, outlined; dim elsewhere
enum class Picture { crop, map, mask, masked, field };

struct PictureRequest {
  std::size_t tap = 0;
  int64_t filter = 0;
  int64_t row = 0;
  Picture picture = Picture::crop;
  int64_t side = 160;  // pixels
};

// The atlas must have its look; a mask is asked of layers that have one.
images::Image draw_picture(const RunAtlas& atlas, const PictureRequest& request);

// The field on the filter's strongest row; plain grey for one that never fires.
images::Image draw_tile(const RunAtlas& atlas, std::size_t tap, int64_t filter, int64_t side);

}  // namespace partwise::atlas

template <>
inline constexpr auto partwise::kWords<partwise::atlas::Picture> =
    partwise::words("crop", "map", "mask", "masked", "field");
