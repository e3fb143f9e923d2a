#include "partwise/base/error.h"
#include "partwise/formats/matlab.h"
#include "partwise/formats/matlab_fixture.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace formats = partwise::formats;
namespace fixture = partwise::formats::fixture;

namespace {

std::string sound_file(const fuzz::ScratchFolder& folder) {
  const auto object = fixture::matlab_structs(
      {{{"name", fixture::matlab_text("cat")}, {"box", fixture::matlab_numbers(1, 2, {1, 2})}},
       {{"name", fixture::matlab_text("dog")}, {"box", fixture::matlab_numbers(1, 2, {3, 4})}}});
  const auto path = folder.path() / "sound.mat";
  fixture::write_matlab(path,
                        {{"objects", object},
                         {"mask", fixture::matlab_mask(2, 2, {0, 1, 1, 0})},
                         {"cells", fixture::matlab_cells({fixture::matlab_text("a")})}},
                        fixture::MatlabVersion::v73);
  return partwise::read_file(path);
}

}  // namespace

// The input is a list of changes to a sound file, three bytes of place and one of value each:
// random bytes never get past HDF5's signature. HDF5 itself is not instrumented and crashes on some
// of these; a child process dies of it, not the reader.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFolder folder;
  static const std::string sound = sound_file(folder);
  auto bytes = sound;
  for (std::size_t i = 0; i + 4 <= size; i += 4) {
    const auto place = data[i] | data[i + 1] << 8 | data[i + 2] << 16;
    bytes[static_cast<std::size_t>(place) % bytes.size()] = static_cast<char>(data[i + 3]);
  }
  const auto file = folder.put("changed.mat", bytes);
  return fuzz::does_or_refuses(file.string(), [&] { (void)formats::read_matlab(file); });
}
