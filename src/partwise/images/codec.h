#pragma once

#include "partwise/images/image.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace partwise::images {

// JPEG or PNG, told by content, to 8-bit RGB: grey, palette, alpha (over white), 16-bit and CMYK
// are converted, EXIF orientation is applied. An Error begins with `name` and says what is wrong:
// not an image, truncated, or more than `max_pixels`.
Image decode_image(std::string_view bytes, std::string_view name, int64_t max_pixels = 100'000'000);
Image read_image(const std::filesystem::path& path);

std::string encode_png(const Image& image);  // the same pixels give the same bytes
std::string encode_jpeg(const Image& image, int quality);

}  // namespace partwise::images
