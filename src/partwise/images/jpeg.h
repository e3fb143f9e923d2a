#pragma once

#include "partwise/images/image.h"

#include <string>
#include <string_view>

namespace partwise::images {

// codec.h's contract for one format; `bytes` begins with the format's signature.
ReducedImage decode_jpeg(std::string_view bytes,
                         std::string_view name,
                         int64_t max_pixels,
                         int64_t reduction);

std::string encode_jpeg(const Image& image, int quality);

}  // namespace partwise::images
