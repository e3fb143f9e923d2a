#include "partwise/formats/matlab.h"
#include "partwise/weights/read_weights.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace formats = partwise::formats;
namespace weights = partwise::weights;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  return fuzz::try_read(data, size, [](const partwise::FileBytes& file) {
    fuzz::use(weights::matconvnet_network(formats::parse_matlab5(file), file.name));
  });
}
