// A crop's window resized to 224 x 224: the kernels of this machine beside the portable ones and a
// copy of the window's pixels.
#include "partwise/images/row_kernels.h"

#include <fmt/format.h>

#include "side_by_side.h"

int main() {
  using namespace partwise::images;
  constexpr int64_t kSide = 224;
  for (const int64_t from : {100, 224, 300, 500}) {
    auto photo = Image::blank(from, from);
    for (std::size_t i = 0; i < photo.pixels.size(); ++i) {
      photo.pixels[i] = static_cast<uint8_t>(i * 2654435761U >> 13U);
    }
    const auto resize = [&](const RowKernels& kernels) {
      for (int i = 0; i < 20; ++i) {
        resize_with(kernels, photo, {0, 0, from, from}, kSide, kSide, 1);
      }
    };
    Image copy;
    partwise::bench::compare(fmt::format("20 windows of {0} x {0} to {1} x {1}", from, kSide),
                             {{"fastest kernels", [&] { resize(fastest_row_kernels()); }},
                              {"portable kernels", [&] { resize(portable_row_kernels()); }},
                              {"copies of the window",
                               [&] {
                                 for (int i = 0; i < 20; ++i) copy = photo;
                               }}},
                             15);
  }
  return 0;
}
