// Our side of pillow_crops.py: crops of a part-dataset on one thread, a few at a time.
//   crop_sides DATASET SIDE OUT     writes all crops to OUT ([rows, 3, SIDE, SIDE] bytes) and their
//   number to standard output, then answers each line "WHAT FIRST END" with CPU seconds. WHAT:
//     crops  decoded, cropped, resized, as training sees them
//     whole  the files decoded to the last pixel, nothing else
//     scan   the files read and the codes of all their rows undone: what no JPEG reader is spared
#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/datasets/crops.h"
#include "partwise/images/codec.h"

#include <ctime>
#include <iostream>
#include <map>

namespace {

using namespace partwise::datasets;
using Rows = std::vector<Sample>;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
  partwise::ensure(argc == 4, "usage: crop_sides DATASET SIDE OUT");
  const auto dataset = load_dataset(argv[1]);
  const auto samples = samples_of_split(dataset, "all", true);
  const CropOptions options{.side = std::stoll(argv[2]), .threads = 1};
  const auto crops = load_crops(dataset, samples, options);
  partwise::write_file_atomically(
      argv[3], {reinterpret_cast<const char*>(crops.pixels.data()), crops.pixels.size()});
  const auto record_of = [&](const Sample& sample) {
    return dataset.images.at(static_cast<std::size_t>(sample.image_index));
  };
  const std::map<std::string, std::function<void(const Rows&)>> ways{
      {"crops", [&](const Rows& rows) { load_crops(dataset, rows, options); }},
      {"whole",
       [&](const Rows& rows) {
         for (const auto& row : rows) {
           partwise::images::read_image(dataset.root / record_of(row).file_name);
         }
       }},
      {"scan", [&](const Rows& rows) {
         for (const auto& row : rows) {
           const auto record = record_of(row);
           partwise::images::read_reduced(dataset.root / record.file_name, 1,
                                          {0, record.height - 1, 1, 1});
         }
       }}};
  std::cout << samples.size() << std::endl;
  std::string what;
  int64_t first = 0;
  int64_t end = 0;
  while (std::cin >> what >> first >> end) {
    const Rows rows(samples.begin() + first, samples.begin() + end);
    const double start = cpu_seconds();
    ways.at(what)(rows);
    std::cout << cpu_seconds() - start << std::endl;
  }
  return 0;
}
