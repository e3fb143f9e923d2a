#include "partwise/images/codec.h"

#include <algorithm>
#include <cstddef>

namespace partwise::images {

int exif_orientation(std::string_view tiff) {
  constexpr uint32_t kOrientationTag = 0x0112;
  const bool big = tiff.starts_with("MM");
  // Little- or big-endian; reading past the end gives 0.
  const auto number = [&](std::size_t offset, std::size_t width) -> uint32_t {
    if (offset > tiff.size() || tiff.size() - offset < width) return 0;
    uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t at = offset + (big ? i : width - 1 - i);
      value = (value << 8U) | static_cast<unsigned char>(tiff[at]);
    }
    return value;
  };
  if (number(2, 2) != 42) return 1;
  const std::size_t directory = number(4, 4);
  const std::size_t entries = number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (number(entry, 2) != kOrientationTag) continue;
    const auto orientation = static_cast<int>(number(entry + 8, 2));
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
  }
  return 1;
}

Image upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool transposed = orientation >= 5;
  const bool mirrored_x =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirrored_y =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image turned = transposed ? Image::blank(image.height, image.width)
                            : Image::blank(image.width, image.height);
  for (int64_t y = 0; y < turned.height; ++y) {
    for (int64_t x = 0; x < turned.width; ++x) {
      const int64_t u = transposed ? y : x;
      const int64_t v = transposed ? x : y;
      const auto* from =
          image.at(mirrored_x ? image.width - 1 - u : u, mirrored_y ? image.height - 1 - v : v);
      std::copy_n(from, 3, turned.at(x, y));
    }
  }
  return turned;
}

}  // namespace partwise::images
