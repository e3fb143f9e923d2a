#include "partwise/images/codec.h"
#include "partwise/images/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

namespace partwise::images {
namespace {

namespace fs = std::filesystem;

TEST(RealPhotos, AllDecodeAndKeepTheirMeanColourWhenShrunk) {
  const char* root = std::getenv("PARTWISE_REAL_DATA");
  if (root == nullptr) GTEST_SKIP() << "PARTWISE_REAL_DATA is not set";
  int64_t photos = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".jpg" || photos >= 400) continue;
    const auto photo = read_image(entry.path());
    const auto small = resize_antialiased(photo, {0, 0, photo.width, photo.height}, 112, 112);
    const auto mean = [](const Image& image) {
      const double sum = std::accumulate(image.pixels.begin(), image.pixels.end(), 0.0);
      return sum / static_cast<double>(image.pixels.size());
    };
    EXPECT_NEAR(mean(photo), mean(small), 2.0) << entry.path();  // grey levels: rounding and edges
    ++photos;
  }
  EXPECT_GE(photos, 100);
}

}  // namespace
}  // namespace partwise::images
