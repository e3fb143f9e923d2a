#include "partwise/formats/matlab.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace formats = partwise::formats;

// What a child process hands over that HDF5 may have driven mad.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  return fuzz::try_read(data, size, [](const partwise::FileBytes& file) {
    const auto variables = formats::values_handed_over(file);
    std::string again;
    for (const auto& [name, value] : variables) {
      formats::hand_over(name, value, [&](std::string_view piece) { again += piece; });
    }
    const auto twice = formats::values_handed_over(partwise::bytes_in_memory("fuzz", again));
    if (twice.size() != variables.size()) fuzz::broken("values come back as they were");
  });
}
