// Stands in for matlab_hdf5.cpp in a build without libmatio and its HDF5.
#include "partwise/base/error.h"
#include "partwise/datasets/import/matlab_hdf5.h"

namespace partwise::datasets {

bool matlab_supported() {
  return false;
}

MatlabValue read_matlab_hdf5(const std::filesystem::path& path, const char* /*variable*/) {
  throw Error(fmt::format(
      "{}: this build cannot read MATLAB 7.3 files; install libmatio-dev and build again",
      path.string()));
}

}  // namespace partwise::datasets
