// For pillow_test.py: every crop of a part-dataset, as training sees it.
//   write_crops DATASET SIDE OUT     OUT: [rows, 3, SIDE, SIDE] bytes, objects and negatives in the
//   order of the images
#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/datasets/crops.h"

int main(int argc, char** argv) {
  partwise::ensure(argc == 4, "usage: write_crops DATASET SIDE OUT");
  const auto dataset = partwise::datasets::load_dataset(argv[1]);
  const auto samples = partwise::datasets::samples_of_split(dataset, "all", true);
  const auto crops = partwise::datasets::load_crops(dataset, samples, {std::stoll(argv[2])});
  partwise::write_file_atomically(
      argv[3], {reinterpret_cast<const char*>(crops.pixels.data()), crops.pixels.size()});
  return 0;
}
