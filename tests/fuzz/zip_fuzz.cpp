#include "partwise/formats/zip.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace formats = partwise::formats;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  return fuzz::try_read(data, size, [](const partwise::FileBytes& file) {
    const formats::ZipArchive archive(file.bytes, file.name);
    for (const auto& [name, entry] : archive.entries()) (void)archive.contents(name);
  });
}
