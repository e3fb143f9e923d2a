#include "partwise/weights/zip.h"

#include "tests/fuzz/try_read.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using namespace partwise;
  return fuzz::try_read(data, size, [](const weights::FileBytes& file) {
    const weights::ZipArchive archive(file.bytes, file.name);
    for (const auto& [name, entry] : archive.entries()) (void)archive.contents(name);
  });
}
