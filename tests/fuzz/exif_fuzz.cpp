#include "partwise/images/codec.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace images = partwise::images;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const int orientation = images::exif_orientation(fuzz::text_of(data, size));
  if (orientation < 1 || orientation > 8) fuzz::broken("an orientation is 1 to 8");
  const auto turned = images::upright(images::Image::blank(3, 2), orientation);
  if (turned.width * turned.height != 6) fuzz::broken("turning keeps every pixel");
  return 0;
}
