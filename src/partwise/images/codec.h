#pragma once

#include "partwise/images/image.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace partwise::images {

constexpr int64_t kMostPixels = 100'000'000;

// JPEG or PNG, told by content, to 8-bit RGB: grey, palette, alpha (over white), 16-bit and CMYK
// are converted, EXIF orientation is applied. An Error begins with `name` and says what is wrong:
// not an image, truncated, or more than `max_pixels`.
Image decode_image(std::string_view bytes, std::string_view name, int64_t max_pixels = kMostPixels);
Image read_image(const std::filesystem::path& path);

// How many pixels decoding would give, from the header alone; an Error as decode_image has it.
int64_t pixels_of(std::string_view bytes, std::string_view name);

// read_image, but a JPEG is decoded at 1/reduction of its size (1, 2, 4 or 8) from its low
// frequencies, and only as far as `needed`, a window in pixels of the whole picture, asks for it
// (empty or not inside the picture: all of it); the pixels are those of the whole decoding. Files
// for which this is not possible (PNG, JPEG stored turned) come whole, with reduction 1.
//
// Below the window nothing is decoded: damage there goes unnoticed, but a file that was cut off is
// refused as ever. Importing and `data check` decode all of it.
ReducedImage read_reduced(const std::filesystem::path& path,
                          int64_t reduction,
                          const Window& needed = {});

// The same for one format; `bytes` begins with the format's signature.
Image decode_png(std::string_view bytes, std::string_view name, int64_t max_pixels);
ReducedImage decode_jpeg(std::string_view bytes,
                         std::string_view name,
                         int64_t max_pixels,
                         int64_t reduction,
                         const Window& needed);

int64_t pixels_of_png(std::string_view bytes, std::string_view name);
int64_t pixels_of_jpeg(std::string_view bytes, std::string_view name);

// The orientation tag (1..8) of a TIFF block as EXIF embeds it; 1 when there is none or the block
// is damaged.
int exif_orientation(std::string_view tiff);

// The image as it should be seen; `orientation` as in EXIF.
Image upright(Image image, int orientation);

std::string encode_png(const Image& image);  // the same pixels give the same bytes
std::string encode_jpeg(const Image& image, int quality);

}  // namespace partwise::images
