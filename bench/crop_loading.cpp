// Crops of a part-dataset decoded, prepared in a cache, and taken from it.
//   crop_loading DATASET SIDE
#include "partwise/base/error.h"
#include "partwise/datasets/crops.h"

#include <chrono>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using namespace partwise::datasets;

// Memory that is the process's own, not a file's, MB.
double own_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0.0;
    if (word == "RssAnon:" && status >> kilobytes) return kilobytes / 1024.0;
  }
  return 0.0;
}

}  // namespace

int main(int argc, char** argv) {
  partwise::ensure(argc == 3, "usage: crop_loading DATASET SIDE");
  const auto dataset = load_dataset(argv[1]);
  const auto samples = samples_of_split(dataset, "all", true);
  const int64_t side = std::stoll(argv[2]);
  const auto folder = fs::temp_directory_path() / "partwise-crop-loading";
  fmt::print(
      "{} crops, {} x {}\n\n| repeat | how | seconds | own memory, MB |\n|---|---|---|---|\n",
      samples.size(), side, side);
  for (int repeat = 1; repeat <= 3; ++repeat) {
    fs::remove_all(folder);
    for (const char* how : {"decoded, no cache", "decoded into the cache", "from the cache"}) {
      const bool cached = std::string_view(how) != "decoded, no cache";
      const auto before = own_memory();
      const auto start = std::chrono::steady_clock::now();
      const auto crops = load_crops(
          dataset, samples, {side, 0, cached ? CropCache{folder, int64_t{1} << 40U} : CropCache{}});
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      fmt::print("| {} | {} | {:.2f} | {:.0f} |\n", repeat, how, seconds.count(),
                 own_memory() - before);
    }
  }
  fs::remove_all(folder);
  return 0;
}
