#pragma once

#include "partwise/base/file_bytes.h"
#include "partwise/weights/mat_value.h"

#include <map>

namespace partwise::weights {

// The variables of a MATLAB 5 file (what MATLAB writes by default, compressed or not). Our own
// reader, since libmatio crashes on damaged ones. Numbers point into the file, or into what was
// decompressed; sparse and complex ones, objects and functions are there as `other`. Refused: big
// endian, nesting beyond 32, and files that take more than `most` bytes of memory (0: 16 MiB and 16
// times their size).
std::map<std::string, MatValue> parse_mat5(const FileBytes& file, std::size_t most = 0);

}  // namespace partwise::weights
