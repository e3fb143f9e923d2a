// Stands in for matlab_matio.cpp in a build without libmatio.
#include "partwise/base/error.h"
#include "partwise/datasets/import/matlab.h"

namespace partwise::datasets {

bool matlab_supported() {
  return false;
}

MatlabValue read_matlab(const std::filesystem::path& path, const char* /*variable*/) {
  throw Error(
      fmt::format("{}: this build cannot read MATLAB files; install libmatio-dev and build again",
                  path.string()));
}

}  // namespace partwise::datasets
