#include "partwise/images/codec.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace images = partwise::images;

namespace {

constexpr int64_t kFewPixels = 1 << 16;

void must_hold(const images::Image& image) {
  const auto bytes = static_cast<std::size_t>(image.width * image.height * 3);
  if (image.width <= 0 || image.height <= 0 || image.pixels.size() != bytes)
    fuzz::broken("an image has three bytes for each of its pixels");
}

}  // namespace

// A photograph that was uploaded or imported; the last two bytes choose how a JPEG is reduced and
// which part of it is wanted.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto bytes = fuzz::text_of(data, size - 2);
  return fuzz::does_or_refuses("fuzz: ", [&] {
    const auto pixels = images::pixels_of(bytes, "fuzz");
    const auto image = images::decode_image(bytes, "fuzz", kFewPixels);
    must_hold(image);
    if (pixels != image.width * image.height) fuzz::broken("the header says how many pixels");
    if (!bytes.starts_with("\xFF\xD8")) return;
    const images::Window window{data[size - 2] % 16, data[size - 2] / 16, 1 + data[size - 1] % 16,
                                1 + data[size - 1] / 16};
    const auto seen =
        images::decode_jpeg(bytes, "fuzz", kFewPixels, int64_t{1} << data[size - 1] % 4, window);
    must_hold(seen.image);
  });
}
