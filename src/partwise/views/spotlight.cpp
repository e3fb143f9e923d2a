#include "partwise/views/spotlight.h"

#include "partwise/base/error.h"

#include <cmath>
#include <utility>

namespace partwise::views {

images::Image spotlit(images::Image picture, std::span<const float> strength, float level) {
  constexpr double kBrightness = 0.42;
  constexpr double kSaturation = 0.35;
  expects(std::cmp_equal(strength.size(), picture.width * picture.height),
          "strength of {} pixels for a picture of {} x {}", strength.size(), picture.width,
          picture.height);
  for (std::size_t p = 0; p < strength.size(); ++p) {
    if (level > 0.0F && strength[p] >= level) continue;
    uint8_t* pixel = &picture.pixels[3 * p];
    const double grey = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
    for (std::size_t c = 0; c < 3; ++c) {
      const double muted = kBrightness * (grey + kSaturation * (pixel[c] - grey));
      pixel[c] = static_cast<uint8_t>(std::lround(muted));
    }
  }
  return picture;
}

}  // namespace partwise::views
