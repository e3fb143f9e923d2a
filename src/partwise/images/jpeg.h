#pragma once

#include "partwise/images/image.h"

#include <string>
#include <string_view>

namespace partwise::images {

// codec.h's contract for one format; `bytes` begins with the format's signature.
Image decode_jpeg(std::string_view bytes, std::string_view name, int64_t max_pixels);

}  // namespace partwise::images
