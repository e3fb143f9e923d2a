#pragma once

#include <cstdint>
#include <string_view>

namespace partwise::formats {

// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected), as iSCSI, ext4 and TFRecord use it.
uint32_t crc32c(std::string_view bytes);

}  // namespace partwise::formats
