#pragma once

#include "partwise/datasets/import/matlab.h"

namespace partwise::datasets {

// read_matlab's contract for v7.3, which is HDF5. libmatio reads such files too, but asks for the
// name of every element of a struct array, which makes it quadratic: minutes for a thousand
// objects. Not safe on several threads.
MatlabValue read_matlab_hdf5(const std::filesystem::path& path, const char* variable);

}  // namespace partwise::datasets
