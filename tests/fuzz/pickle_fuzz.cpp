#include "partwise/formats/pth.h"
#include "partwise/formats/pth_fixture.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace formats = partwise::formats;

// The input is the pickle alone: the archive around it is sound, or its checksum would keep the
// fuzzer out.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string pickle(reinterpret_cast<const char*>(data), size);
  const auto bytes = formats::fixture::pth(pickle);
  return fuzz::try_read(
      reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
      [](const partwise::FileBytes& file) { fuzz::use(formats::parse_pth(file)); });
}
