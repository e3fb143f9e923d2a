#pragma once

#include "partwise/weights/mat_value.h"

#include <filesystem>
#include <map>

namespace partwise::weights {

// The variables of a MATLAB 7.3 file, which is HDF5, read with libmatio; a program built without
// that library refuses in one line. Unlike our own readers, neither library is made for hostile
// files: open those of people you trust.
std::map<std::string, MatValue> read_mat73(const std::filesystem::path& path);

}  // namespace partwise::weights
