#include "partwise/images/codec.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"

namespace partwise::images {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 30U;

enum class Format { jpeg, png };

Format format_of(std::string_view bytes, std::string_view name) {
  constexpr std::string_view kJpeg("\xFF\xD8\xFF", 3);
  constexpr std::string_view kPng("\x89PNG\r\n\x1A\n", 8);
  ensure(!bytes.empty(), "{}: zero bytes, not an image", name);
  if (bytes.starts_with(kJpeg)) return Format::jpeg;
  if (bytes.starts_with(kPng)) return Format::png;
  ensure(!kPng.starts_with(bytes) && !kJpeg.starts_with(bytes), "{}: truncated after {} bytes",
         name, bytes.size());
  throw Error(fmt::format("{}: not an image (neither JPEG nor PNG)", name));
}

ReducedImage decode_reduced(std::string_view bytes,
                            std::string_view name,
                            int64_t max_pixels,
                            int64_t reduction,
                            const Window& needed) {
  if (format_of(bytes, name) == Format::jpeg)
    return decode_jpeg(bytes, name, max_pixels, reduction, needed);
  ReducedImage whole{decode_png(bytes, name, max_pixels)};
  whole.width = whole.image.width;
  whole.height = whole.image.height;
  return whole;
}

}  // namespace

Image decode_image(std::string_view bytes, std::string_view name, int64_t max_pixels) {
  return decode_reduced(bytes, name, max_pixels, 1, {}).image;
}

int64_t pixels_of(std::string_view bytes, std::string_view name) {
  return format_of(bytes, name) == Format::jpeg ? pixels_of_jpeg(bytes, name)
                                                : pixels_of_png(bytes, name);
}

Image read_image(const std::filesystem::path& path) {
  return read_reduced(path, 1).image;
}

ReducedImage read_reduced(const std::filesystem::path& path,
                          int64_t reduction,
                          const Window& needed) {
  return decode_reduced(read_file(path, kLargestFile), path.string(), kMostPixels, reduction,
                        needed);
}

}  // namespace partwise::images
