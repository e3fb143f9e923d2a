// What decoding a JPEG at 1/2, 1/4 or 1/8 of its size changes and saves when a crop is made of it.
//   reduced_decoding FOLDER [PHOTOS]     every tenth *.jpg below the folder, at most PHOTOS (100)
//   of them
#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/images/codec.h"
#include "partwise/images/resize.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace {

namespace fs = std::filesystem;
using namespace partwise::images;

struct Difference {
  double sum = 0.0;
  int64_t values = 0;
  int largest = 0;
  int64_t beyond_four = 0;
};

void compare(const Image& a, const Image& b, Difference& difference) {
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    const int away = std::abs(int{a.pixels[i]} - int{b.pixels[i]});
    difference.sum += away;
    difference.largest = std::max(difference.largest, away);
    difference.beyond_four += away > 4 ? 1 : 0;
    ++difference.values;
  }
}

double seconds_of(const auto& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<fs::path> photos_below(const fs::path& folder, std::size_t most) {
  std::vector<fs::path> photos;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".jpg") photos.push_back(entry.path());
  }
  std::sort(photos.begin(), photos.end());
  std::vector<fs::path> some;
  for (std::size_t i = 0; i < photos.size() && some.size() < most; i += 10)
    some.push_back(photos[i]);
  return some;
}

// Photographs side by side, as large as a camera's: 4032 x 3024.
Image mosaic(const std::vector<fs::path>& photos) {
  constexpr int64_t kTile = 504;
  auto all = Image::blank(8 * kTile, 6 * kTile);
  for (int64_t tile = 0; tile < 48; ++tile) {
    const auto photo = read_image(photos[static_cast<std::size_t>(tile) % photos.size()]);
    const auto small = resize_antialiased(photo, {0, 0, photo.width, photo.height}, kTile, kTile);
    for (int64_t y = 0; y < kTile; ++y) {
      std::copy_n(small.at(0, y), 3 * kTile, all.at(tile % 8 * kTile, tile / 8 * kTile + y));
    }
  }
  return all;
}

void show_differences(const std::vector<fs::path>& photos) {
  fmt::print(
      "| at | pixels left a crop pixel | mean difference | above 4 levels | largest "
      "|\n|---|---|---|---|---|\n");
  for (const int64_t reduction : {2, 4, 8}) {
    for (const double left : {1.0, 1.5, 2.0, 3.0}) {
      Difference difference;
      for (const auto& path : photos) {
        const auto reduced = read_reduced(path, reduction);
        const Window window{0, 0, reduced.width, reduced.height};
        const auto side =
            static_cast<int64_t>(static_cast<double>(std::min(reduced.width, reduced.height)) /
                                 (left * static_cast<double>(reduction)));
        compare(resize_antialiased(read_image(path), window, side, side),
                resize_antialiased(reduced, window, side, side), difference);
      }
      const auto values = static_cast<double>(difference.values);
      fmt::print("| 1/{} | {:.1f} | {:.2f} | {:.2f} % | {} |\n", reduction, left,
                 difference.sum / values,
                 100.0 * static_cast<double>(difference.beyond_four) / values, difference.largest);
    }
  }
}

void show_times(const std::vector<fs::path>& photos) {
  const auto path = fs::temp_directory_path() / "partwise-mosaic.jpg";
  partwise::write_file_atomically(path, encode_jpeg(mosaic(photos), 90));
  fmt::print(
      "\n| crop of a 4032 x 3024 photograph | at | whole, ms | reduced, ms | ratio | mean "
      "difference | largest |\n|---|---|---|---|---|---|---|\n");
  for (const int64_t side : {64, 128, 224, 448}) {
    const Window window{0, 0, 4032, 3024};
    const auto reduction = reduction_for(window, side, side);
    Image whole;
    Image reduced;
    std::vector<double> whole_times;
    std::vector<double> reduced_times;
    for (int repeat = 0; repeat < 7; ++repeat) {  // side by side: each pair sees the same machine
      whole_times.push_back(
          seconds_of([&] { whole = resize_antialiased(read_image(path), window, side, side); }));
      reduced_times.push_back(seconds_of([&] {
        const auto seen = read_reduced(path, reduction);
        reduced = resize_antialiased(seen, window, side, side);
      }));
    }
    const auto median = [](std::vector<double> times) {
      std::sort(times.begin(), times.end());
      return times[times.size() / 2];
    };
    Difference difference;
    compare(whole, reduced, difference);
    fmt::print("| {} x {} | 1/{} | {:.0f} | {:.0f} | {:.2f} | {:.2f} | {} |\n", side, side,
               reduction, 1e3 * median(whole_times), 1e3 * median(reduced_times),
               median(whole_times) / median(reduced_times),
               difference.sum / static_cast<double>(difference.values), difference.largest);
  }
  fs::remove(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: reduced_decoding FOLDER [PHOTOS]\n");
    return 2;
  }
  const auto photos = photos_below(argv[1], argc > 2 ? std::stoul(argv[2]) : 100);
  partwise::ensure(!photos.empty(), "{}: no *.jpg below it", argv[1]);
  fmt::print("{} photographs\n\n", photos.size());
  show_differences(photos);
  show_times(photos);
  return 0;
}
