#pragma once

#include "partwise/images/image.h"

#include <string>
#include <string_view>

namespace partwise::images {

// codec.h's contract for one format; `bytes` begins with the format's signature.
Image decode_png(std::string_view bytes, std::string_view name, int64_t max_pixels);

std::string encode_png(const Image& image);  // the same pixels give the same bytes

}  // namespace partwise::images
