#pragma once

#include "partwise/base/files.h"
#include "partwise/images/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace partwise::views {

// Compares the picture with tests/golden/<name>.png, which somebody has looked at. Where they
// differ, the test names the picture it got; PARTWISE_REDRAW=1 in the environment makes that the
// golden one. Two grey levels are allowed: compilers and libm's round differently, and a rounding
// may meet another in the next layer of paint. `differing`: the share of pixels that may differ by
// more, for pictures of what a network computed, where another processor's convolutions may move an
// outline by a pixel.
inline void expect_golden(const images::Image& image,
                          const std::string& name,
                          double differing = 0.0) {
  constexpr int kTolerance = 2;
  constexpr std::size_t kLargest = 40'000;  // bytes: goldens stay in the history for good
  const auto path =
      std::filesystem::path(PARTWISE_SOURCE_DIR) / "tests" / "golden" / (name + ".png");
  const std::string bytes = images::encode_png(image);
  ASSERT_LE(bytes.size(), kLargest) << name << " is too large for a golden picture";
  if (const char* redraw = std::getenv("PARTWISE_REDRAW"); redraw != nullptr && *redraw == '1') {
    make_writable_folder(path.parent_path());
    write_file_atomically(path, bytes);
    return;
  }
  const auto actual = std::filesystem::temp_directory_path() / "partwise-golden" / (name + ".png");
  const auto leave_actual = [&] {
    make_writable_folder(actual.parent_path());
    write_file_atomically(actual, bytes);
    return "see " + actual.string() + "; PARTWISE_REDRAW=1 makes it the golden one";
  };
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing; " << leave_actual();
  const images::Image golden = images::read_image(path);
  ASSERT_TRUE(golden.width == image.width && golden.height == image.height)
      << name << " is " << image.width << " x " << image.height << ", not " << golden.width << " x "
      << golden.height << "; " << leave_actual();
  int64_t pixels = 0;
  int most = 0;
  for (std::size_t p = 0; p < image.pixels.size(); p += 3) {
    int difference = 0;
    for (std::size_t c = p; c < p + 3; ++c) {
      difference = std::max(difference, std::abs(int{image.pixels[c]} - int{golden.pixels[c]}));
    }
    pixels += difference > kTolerance ? 1 : 0;
    most = std::max(most, difference);
  }
  const auto all = static_cast<double>(image.width * image.height);
  EXPECT_LE(static_cast<double>(pixels), differing * all)
      << pixels << " pixels of " << name << " differ, by up to " << most << " grey levels; "
      << leave_actual();
}

}  // namespace partwise::views
