#include "partwise/datasets/part_dataset.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace datasets = partwise::datasets;

// dataset.json of a stranger. What is accepted can be saved, and is then read as it was.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFolder folder;
  const auto file = folder.put("dataset.json", fuzz::text_of(data, size));
  return fuzz::does_or_refuses(file.string(), [&] {
    const auto dataset = datasets::load_dataset(folder.path());
    datasets::save_dataset(dataset);
    const auto once = partwise::read_file(file);
    datasets::save_dataset(datasets::load_dataset(folder.path()));
    if (partwise::read_file(file) != once) fuzz::broken("a dataset comes back as it was");
  });
}
