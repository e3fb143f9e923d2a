#include "partwise/images/codec.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/images/jpeg.h"
#include "partwise/images/png.h"

namespace partwise::images {

Image decode_image(std::string_view bytes, std::string_view name, int64_t max_pixels) {
  constexpr std::string_view kJpeg("\xFF\xD8\xFF", 3);
  constexpr std::string_view kPng("\x89PNG\r\n\x1A\n", 8);
  ensure(!bytes.empty(), "{}: zero bytes, not an image", name);
  if (bytes.starts_with(kJpeg)) return decode_jpeg(bytes, name, max_pixels);
  if (bytes.starts_with(kPng)) return decode_png(bytes, name, max_pixels);
  ensure(!kPng.starts_with(bytes) && !kJpeg.starts_with(bytes), "{}: truncated after {} bytes",
         name, bytes.size());
  throw Error(fmt::format("{}: not an image (neither JPEG nor PNG)", name));
}

Image read_image(const std::filesystem::path& path) {
  return decode_image(read_file(path), path.string());
}

}  // namespace partwise::images
