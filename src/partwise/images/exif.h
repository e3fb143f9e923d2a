#pragma once

#include "partwise/images/image.h"

#include <string_view>

namespace partwise::images {

// The orientation tag (1..8) of a TIFF block as EXIF embeds it; 1 when there is none or the block
// is damaged.
int exif_orientation(std::string_view tiff);

// The image as it should be seen; `orientation` as in EXIF.
Image upright(Image image, int orientation);

}  // namespace partwise::images
