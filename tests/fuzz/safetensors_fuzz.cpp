#include "tests/fuzz/try_read.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using namespace partwise;
  return fuzz::try_read(data, size, [](const weights::FileBytes& file) {
    fuzz::use(weights::parse_safetensors(file));
  });
}
