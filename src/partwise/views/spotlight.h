#pragma once

#include "partwise/images/image.h"

#include <span>

namespace partwise::views {

// The picture as it is where the strength reaches the level, dim and nearly grey elsewhere; nothing
// is lit by a level of 0.  strength [height * width]
images::Image spotlit(images::Image picture, std::span<const float> strength, float level);

}  // namespace partwise::views
