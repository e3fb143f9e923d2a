#pragma once

#include "partwise/weights/mat_value.h"

#include <filesystem>
#include <map>

namespace partwise::weights {

// The variables of a MATLAB 7.3 file, which is HDF5, read with libmatio; a program built without
// that library refuses in one line. Neither library is made for hostile files, so a child process
// reads first: what it does not survive is refused.
std::map<std::string, MatValue> read_mat73(const std::filesystem::path& path);

}  // namespace partwise::weights
