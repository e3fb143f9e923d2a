#pragma once

#include "partwise/base/file_bytes.h"
#include "partwise/weights/named_arrays.h"

namespace partwise::weights {

// A .safetensors file: 8 bytes little-endian header length, a JSON header, raw data. The arrays
// point into `file`. Refused: a header beyond the format's own cap of 100 MB, a name that occurs
// twice, a shape that disagrees with its offsets, data that overlaps, leaves a gap or is left over,
// and contents that differ from the checksum our own writer adds.
NamedArrays parse_safetensors(const FileBytes& file);

// The bytes of such a file; the metadata gets a "content_hash" of the data section. Wide types come
// first and the data starts at a multiple of 8, so every array is aligned.
std::string format_safetensors(const NamedArrays& file);

void write_safetensors(const std::filesystem::path& path, const NamedArrays& file);

}  // namespace partwise::weights
