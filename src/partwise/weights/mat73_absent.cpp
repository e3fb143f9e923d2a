#include "partwise/base/error.h"
#include "partwise/weights/mat73.h"

namespace partwise::weights {

std::map<std::string, MatValue> read_mat73(const std::filesystem::path& path) {
  throw Error(fmt::format(
      "{}: a MATLAB 7.3 file, and this program was built without libmatio; save it in MATLAB with "
      "-v7, or build where libmatio-dev is installed",
      path.string()));
}

}  // namespace partwise::weights
