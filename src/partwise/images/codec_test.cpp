#include "partwise/images/codec.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/images/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <jpeglib.h>
#include <png.h>

namespace partwise::images {
namespace {

Image gradient(int64_t width, int64_t height) {
  auto image = Image::blank(width, height);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      image.at(x, y)[0] = static_cast<uint8_t>(x * 255 / width);
      image.at(x, y)[1] = static_cast<uint8_t>(y * 255 / height);
      image.at(x, y)[2] = 90;
    }
  }
  return image;
}

std::string reason(const std::string& bytes, int64_t max_pixels = 1'000'000) {
  try {
    decode_image(bytes, "x.img", max_pixels);
    return "decoded";
  } catch (const Error& error) {
    return error.what();
  }
}

// A JPEG of `channels` in the colour space given, as a scanner or Adobe program would write it.
std::string raw_jpeg(const std::vector<uint8_t>& pixels,
                     int side,
                     int channels,
                     J_COLOR_SPACE space) {
  jpeg_compress_struct info{};
  jpeg_error_mgr manager{};
  info.err = jpeg_std_error(&manager);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = info.image_height = static_cast<JDIMENSION>(side);
  info.input_components = channels;
  info.in_color_space = space;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 98, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<uint8_t*>(
        &pixels[info.next_scanline * static_cast<std::size_t>(side * channels)]);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string bytes(reinterpret_cast<char*>(buffer), size);
  std::free(buffer);
  return bytes;
}

std::string raw_png(const std::vector<uint8_t>& row,
                    int width,
                    int depth,
                    int colour_type,
                    int height = 1,
                    int interlace = PNG_INTERLACE_NONE) {
  auto* png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  auto* info = png_create_info_struct(png);
  std::string bytes;
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, std::size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), n);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), depth,
               colour_type, interlace, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const png_color colours[2] = {{10, 20, 30}, {200, 100, 50}};
  if (colour_type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, colours, 2);
  png_write_info(png, info);
  const auto stride = row.size() / static_cast<std::size_t>(height);
  std::vector<png_bytep> rows;
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y)
    rows.push_back(const_cast<png_bytep>(&row[y * stride]));
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

std::string with_exif_orientation(const std::string& jpeg, char orientation) {
  using namespace std::string_literals;
  const auto tiff =
      "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"s + orientation + "\0\0\0\0\0\0"s;
  const auto body = "Exif\0\0"s + tiff;
  const auto length = body.size() + 2;
  return jpeg.substr(0, 2) + "\xFF\xE1" + static_cast<char>(length / 256) +
         static_cast<char>(length % 256) + body + jpeg.substr(2);
}

TEST(Codec, PngComesBackExactly) {
  auto image = gradient(33, 17);
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    image.pixels[static_cast<std::size_t>(random.below(int64_t{33} * 17 * 3))] =
        static_cast<uint8_t>(random.below(256));
  }
  const auto bytes = encode_png(image);
  EXPECT_EQ(decode_image(bytes, "a.png").pixels, image.pixels);
  EXPECT_EQ(bytes, encode_png(image));
}

TEST(Codec, CountsPixelsFromTheHeaderAlone) {
  const auto image = Image::blank(40, 30);
  EXPECT_EQ(pixels_of(encode_png(image), "x"), 1200);
  EXPECT_EQ(pixels_of(encode_jpeg(image, 90), "x"), 1200);
  EXPECT_THROW(pixels_of("words", "x"), Error);
  EXPECT_THROW(pixels_of("", "x"), Error);
}

TEST(Codec, JpegComesBackClose) {
  const auto image = gradient(40, 24);
  const auto back = decode_image(encode_jpeg(image, 95), "a.jpg");
  ASSERT_EQ(back.width, 40);
  ASSERT_EQ(back.height, 24);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    EXPECT_NEAR(back.pixels[i], image.pixels[i], 12);  // chroma is stored at half resolution
  }
}

TEST(Codec, GreyPaletteAlphaAndSixteenBitsBecomeRgb) {
  const auto grey = decode_image(raw_png({7, 250}, 2, 8, PNG_COLOR_TYPE_GRAY), "g");
  EXPECT_EQ(grey.pixels, (std::vector<uint8_t>{7, 7, 7, 250, 250, 250}));
  const auto palette = decode_image(raw_png({0x40}, 2, 1, PNG_COLOR_TYPE_PALETTE), "p");
  EXPECT_EQ(palette.pixels, (std::vector<uint8_t>{10, 20, 30, 200, 100, 50}));
  const auto alpha =
      decode_image(raw_png({100, 0, 0, 0, 100, 0, 255, 255}, 2, 8, PNG_COLOR_TYPE_RGBA), "a");
  EXPECT_EQ(alpha.pixels, (std::vector<uint8_t>{255, 255, 255, 100, 0, 255}));
  const auto deep =
      decode_image(raw_png({0x80, 0x80, 0xFF, 0xFF}, 2, 16, PNG_COLOR_TYPE_GRAY), "d");
  EXPECT_EQ(deep.pixels, (std::vector<uint8_t>{128, 128, 128, 255, 255, 255}));
  const auto jpeg = decode_image(raw_jpeg(std::vector<uint8_t>(64, 130), 8, 1, JCS_GRAYSCALE), "j");
  EXPECT_NEAR(jpeg.pixels[0], 130, 2);
  EXPECT_EQ(jpeg.pixels[0], jpeg.pixels[2]);
}

TEST(Codec, InterlacedPngIsTheSamePicture) {
  const auto image = gradient(19, 13);
  const auto interlaced = raw_png(image.pixels, 19, 8, PNG_COLOR_TYPE_RGB, 13, PNG_INTERLACE_ADAM7);
  EXPECT_EQ(decode_image(interlaced, "i.png").pixels, image.pixels);
  EXPECT_NE(reason(interlaced.substr(0, interlaced.size() / 2)), "decoded");
}

TEST(Codec, GreyWithAlphaAndDeepColourBecomeRgb) {
  const auto veiled =
      decode_image(raw_png({100, 255, 100, 0}, 2, 8, PNG_COLOR_TYPE_GRAY_ALPHA), "ga.png");
  EXPECT_EQ(veiled.pixels, (std::vector<uint8_t>{100, 100, 100, 255, 255, 255}));
  const auto deep = decode_image(
      raw_png({0x10, 0x10, 0x80, 0x80, 0xFF, 0xFF}, 1, 16, PNG_COLOR_TYPE_RGB), "rgb16.png");
  EXPECT_EQ(deep.pixels, (std::vector<uint8_t>{0x10, 0x80, 0xFF}));
}

TEST(Codec, AdobesInvertedInksBecomeRgb) {
  std::vector<uint8_t> inks;  // libjpeg marks CMYK as Adobe's, whose inks are inverted
  for (int i = 0; i < 64; ++i) inks.insert(inks.end(), {255, 128, 0, 200});
  const auto image = decode_image(raw_jpeg(inks, 8, 4, JCS_CMYK), "cmyk.jpg");
  EXPECT_NEAR(image.at(3, 3)[0], 200, 3);
  EXPECT_NEAR(image.at(3, 3)[1], 100, 3);
  EXPECT_NEAR(image.at(3, 3)[2], 0, 3);
}

TEST(Codec, InksWithoutAdobesMarkAreNotInverted) {
  std::vector<uint8_t> inks;
  for (int i = 0; i < 64; ++i) inks.insert(inks.end(), {0, 127, 255, 55});
  auto jpeg = raw_jpeg(inks, 8, 4, JCS_CMYK);
  const auto mark = jpeg.find("\xFF\xEE");
  ASSERT_NE(mark, std::string::npos);
  jpeg.erase(mark, 16);  // the APP14 segment: marker, length 14, "Adobe" ...
  const auto image = decode_image(jpeg, "cmyk.jpg");
  EXPECT_NEAR(image.at(3, 3)[0], 200, 3);
  EXPECT_NEAR(image.at(3, 3)[1], 100, 3);
  EXPECT_NEAR(image.at(3, 3)[2], 0, 3);
}

TEST(Codec, AReducedJpegStandsForTheWholeOne) {
  const auto place = std::filesystem::path(testing::TempDir()) / "partwise-reduced.jpg";
  const auto ramp = gradient(480, 372);
  write_file_atomically(place, encode_jpeg(ramp, 98));
  const auto whole = read_image(place);
  for (const int64_t reduction : {1, 2, 4, 8}) {
    const auto seen = read_reduced(place, reduction);
    EXPECT_EQ(seen.reduction, reduction);
    EXPECT_EQ(seen.width, 480);
    EXPECT_EQ(seen.height, 372);
    EXPECT_EQ(seen.image.width, 480 / reduction);
    for (const Window& window : {Window{0, 0, 480, 372}, Window{37, 21, 301, 299}}) {
      const auto exact = resize_antialiased(whole, window, 12, 12);
      const auto close = resize_antialiased(seen, window, 12, 12);
      for (std::size_t i = 0; i < exact.pixels.size(); ++i) {
        // A grid shifted by half a reduced pixel would be two levels off at 1/8.
        EXPECT_NEAR(close.pixels[i], exact.pixels[i], 1) << reduction << ": " << i;
      }
    }
  }
  write_file_atomically(place, with_exif_orientation(encode_jpeg(ramp, 90), 6));
  const auto turned = read_reduced(place, 4);
  EXPECT_EQ(turned.reduction, 1);
  EXPECT_EQ(turned.width, 372);
  EXPECT_EQ(turned.image.height, 480);
  write_file_atomically(place, encode_png(ramp));
  EXPECT_EQ(read_reduced(place, 4).image.pixels, ramp.pixels);
  write_file_atomically(place, encode_jpeg(ramp, 90).substr(0, 5000));
  EXPECT_THROW(read_reduced(place, 8), Error);
  std::filesystem::remove(place);
}

// How a file stores its picture.
struct Storage {
  int width = 0;
  int height = 0;
  int across = 1;  // pixels per colour sample
  int down = 1;
  bool grey = false;
  bool progressive = false;
  int restart = 0;  // in blocks
};

std::string stored(const Storage& how, uint64_t seed) {
  jpeg_compress_struct info{};
  jpeg_error_mgr manager{};
  info.err = jpeg_std_error(&manager);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(how.width);
  info.image_height = static_cast<JDIMENSION>(how.height);
  info.input_components = how.grey ? 1 : 3;
  info.in_color_space = how.grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 90, TRUE);
  info.comp_info[0].h_samp_factor = how.across;
  info.comp_info[0].v_samp_factor = how.down;
  info.restart_interval = static_cast<unsigned>(how.restart);
  if (how.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  Random random(seed);  // colours that change from pixel to pixel show every neighbour's part
  std::vector<uint8_t> pixels(static_cast<std::size_t>(how.width * info.input_components));
  while (info.next_scanline < info.image_height) {
    for (auto& value : pixels) value = static_cast<uint8_t>(random.below(256));
    auto* row = pixels.data();
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string bytes(reinterpret_cast<const char*>(buffer), size);
  jpeg_destroy_compress(&info);
  std::free(buffer);
  return bytes;
}

void expect_part_of(const ReducedImage& whole, const ReducedImage& piece, const Window& window) {
  const int64_t reduction = whole.reduction;
  const int64_t right = (window.x + window.width - 1) / reduction;
  const int64_t bottom = (window.y + window.height - 1) / reduction;
  ASSERT_EQ(piece.width, whole.width);
  ASSERT_EQ(piece.height, whole.height);
  ASSERT_LE(piece.left, window.x / reduction);
  ASSERT_EQ(piece.top, window.y / reduction);
  ASSERT_LT(right, piece.left + piece.image.width);
  ASSERT_EQ(bottom + 1, piece.top + piece.image.height);
  for (int64_t y = piece.top; y <= bottom; ++y) {
    for (int64_t x = window.x / reduction; x <= right; ++x) {
      const auto* seen = piece.image.at(x - piece.left, y - piece.top);
      ASSERT_TRUE(std::equal(seen, seen + 3, whole.image.at(x, y)))
          << x << ", " << y << " of window " << window.width << " x " << window.height << " at "
          << window.x << ", " << window.y << ", reduction " << reduction;
    }
  }
}

TEST(Codec, AWindowHasThePixelsOfTheWholeDecoding) {
  std::vector<Storage> storages;
  for (const auto& [across, down] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}}) {
    for (const auto& [width, height] : {std::pair{97, 83}, {64, 96}, {33, 17}, {5, 3}}) {
      storages.push_back({width, height, across, down});
    }
    storages.push_back({97, 83, across, down, false, true});
    storages.push_back({97, 83, across, down, false, false, 3});
    storages.push_back({81, 90, across, down, false, true, 2});
  }
  storages.push_back({97, 83, 1, 1, true});
  storages.push_back({97, 83, 1, 1, true, true});
  Random random(11);
  for (std::size_t i = 0; i < storages.size(); ++i) {
    const auto& how = storages[i];
    SCOPED_TRACE(testing::Message() << how.across << " x " << how.down << ", progressive "
                                    << how.progressive << ", restart " << how.restart);
    const auto bytes = stored(how, i);
    for (const int64_t reduction : {1, 2, 4, 8}) {
      const auto whole = decode_jpeg(bytes, "x.jpg", kMostPixels, reduction, {});
      for (int draw = 0; draw < 60; ++draw) {
        const int64_t x = random.below(how.width);
        const int64_t y = random.below(how.height);
        const Window window{x, y, 1 + random.below(how.width - x),
                            1 + random.below(how.height - y)};
        expect_part_of(whole, decode_jpeg(bytes, "x.jpg", kMostPixels, reduction, window), window);
      }
      const Window all{0, 0, how.width, how.height};
      expect_part_of(whole, decode_jpeg(bytes, "x.jpg", kMostPixels, reduction, all), all);
    }
    const auto outside = decode_jpeg(bytes, "x.jpg", kMostPixels, 1, {2, 2, how.width, 1});
    EXPECT_EQ(outside.image.height, how.height);  // the caller compares sizes
  }
}

TEST(Codec, InksOfAWindowBecomeRgb) {
  std::vector<uint8_t> inks;
  Random random(2);
  for (int i = 0; i < 40 * 40 * 4; ++i) inks.push_back(static_cast<uint8_t>(random.below(256)));
  const auto bytes = raw_jpeg(inks, 40, 4, JCS_CMYK);
  const Window window{17, 9, 11, 20};
  expect_part_of(decode_jpeg(bytes, "x.jpg", kMostPixels, 1, {}),
                 decode_jpeg(bytes, "x.jpg", kMostPixels, 1, window), window);
}

TEST(Codec, ACutOffFileIsRefusedWhereverTheWindowLies) {
  const auto complaint = [](const std::string& bytes, const Window& window) -> std::string {
    try {
      decode_jpeg(bytes, "x.jpg", kMostPixels, 1, window);
      return "decoded";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const Window top{10, 0, 20, 8};
  for (const bool progressive : {false, true}) {
    auto whole = stored({97, 83, 2, 2, false, progressive}, 1);
    EXPECT_EQ(complaint(whole, top), "decoded");
    for (const std::size_t cut : {whole.size() * 3 / 4, whole.size() - 2}) {
      EXPECT_EQ(complaint(whole.substr(0, cut), top), complaint(whole.substr(0, cut), {}));
      EXPECT_EQ(complaint(whole.substr(0, cut), top),
                "x.jpg: truncated JPEG (Premature end of JPEG file)");
    }
    // A thumbnail's own end does not count.
    whole.insert(2, std::string("\xFF\xE1\x00\x06\xFF\xD8\xFF\xD9", 8));
    EXPECT_EQ(complaint(whole, top), "decoded");
    EXPECT_EQ(complaint(whole.substr(0, whole.size() - 2), top),
              "x.jpg: truncated JPEG (Premature end of JPEG file)");
  }
}

TEST(Codec, ExifOrientationTurnsTheImage) {
  // Bright left, dark right; a top-left-to-bottom-right asymmetry tells all eight apart.
  auto image = Image::blank(16, 8);
  for (int64_t y = 0; y < 4; ++y) {
    for (int64_t x = 0; x < 8; ++x) image.at(x, y)[0] = image.at(x, y)[1] = image.at(x, y)[2] = 255;
  }
  const auto jpeg = encode_jpeg(image, 100);
  struct Expected {
    int width;
    int64_t x;
    int64_t y;
  };
  // Where the bright corner must be seen.
  const Expected expected[] = {{16, 0, 0}, {16, 15, 0}, {16, 15, 7}, {16, 0, 7},
                               {8, 0, 0},  {8, 7, 0},   {8, 7, 15},  {8, 0, 15}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const auto turned =
        decode_image(with_exif_orientation(jpeg, static_cast<char>(orientation)), "e.jpg");
    const auto& want = expected[orientation - 1];
    EXPECT_EQ(turned.width, want.width) << orientation;
    EXPECT_GT(turned.at(want.x, want.y)[0], 200) << orientation;
    EXPECT_LT(turned.at(turned.width - 1 - want.x, turned.height - 1 - want.y)[0], 50)
        << orientation;
  }
}

TEST(Codec, OrientationIsReadInBothByteOrdersAndNeverOutsideTheBlock) {
  using namespace std::string_literals;
  const auto little = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"s;
  EXPECT_EQ(exif_orientation(little), 6);
  for (std::size_t cut = 0; cut + 2 < little.size() - 2; ++cut) {
    EXPECT_EQ(exif_orientation(little.substr(0, cut)), 1);
  }
  EXPECT_EQ(exif_orientation("II*\0\xF0\xFF\xFF\xFF"s), 1);
}

TEST(Codec, DamagedFilesSayWhatIsWrong) {
  const auto jpeg = encode_jpeg(gradient(64, 64), 90);
  const auto png = encode_png(gradient(64, 64));
  EXPECT_EQ(reason(""), "x.img: zero bytes, not an image");
  EXPECT_EQ(reason("hello, world"), "x.img: not an image (neither JPEG nor PNG)");
  EXPECT_EQ(reason(jpeg.substr(0, jpeg.size() / 2)).substr(0, 21), "x.img: truncated JPEG");
  EXPECT_EQ(reason(png.substr(0, png.size() / 2)).substr(0, 20), "x.img: truncated PNG");
  EXPECT_EQ(reason(png.substr(0, png.size() - 6)).substr(0, 20), "x.img: truncated PNG");
  EXPECT_EQ(reason(png.substr(0, 5)), "x.img: truncated after 5 bytes");
}

TEST(Codec, AnyPrefixOrDamagedByteIsAnErrorOrAnImageNeverACrash) {
  Random random(5);
  for (const auto& whole : {encode_jpeg(gradient(24, 24), 80), encode_png(gradient(24, 24))}) {
    for (std::size_t cut = 1; cut < whole.size(); cut += 3) {
      EXPECT_NE(reason(whole.substr(0, cut)), "decoded") << cut;
    }
    for (int i = 0; i < 300; ++i) {
      auto damaged = whole;
      damaged[static_cast<std::size_t>(random.below(static_cast<int64_t>(damaged.size())))] =
          static_cast<char>(random.below(256));
      EXPECT_FALSE(reason(damaged).empty());
    }
  }
}

TEST(Codec, HugeDimensionsAreRefusedFromTheHeader) {
  EXPECT_EQ(reason(encode_png(gradient(64, 64)), 4095),
            "x.img: 64 x 64 pixels is more than the 4095 accepted; make it smaller first");
  EXPECT_EQ(reason(encode_jpeg(gradient(64, 64), 50), 4095),
            "x.img: 64 x 64 pixels is more than the 4095 accepted; make it smaller first");
  auto bomb = encode_jpeg(gradient(64, 64), 50);  // claims 65500 x 65500
  const auto frame = bomb.find("\xFF\xC0");
  ASSERT_NE(frame, std::string::npos);
  bomb.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC");
  EXPECT_NE(reason(bomb).find("65500 x 65500 pixels is more than"), std::string::npos);
}

}  // namespace
}  // namespace partwise::images
