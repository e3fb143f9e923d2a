#include "partwise/base/error.h"
#include "partwise/images/codec.h"

#include <csetjmp>
#include <cstring>
#include <png.h>

namespace partwise::images {
namespace {

// Fast rather than small: a synthetic dataset writes thousands of these.
constexpr int kCompressionLevel = 2;

struct Complaint {
  char text[128] = "";
  bool truncated = false;
};

// libpng is C: it is left by longjmp, and the exception is thrown from our own frame.
[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* complaint = static_cast<Complaint*>(png_get_error_ptr(png));
  std::strncpy(complaint->text, message, sizeof complaint->text - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}

struct Source {
  std::string_view rest;
  Complaint complaint;
};

void on_read(png_structp png, png_bytep out, std::size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (source->rest.size() < count) {
    source->complaint.truncated = true;
    png_error(png, "the file ends too early");
  }
  std::memcpy(out, source->rest.data(), count);
  source->rest.remove_prefix(count);
}

// Runs libpng calls; `step` must own nothing, since longjmp skips destructors.
template <typename Step>
bool survives(png_structp png, const Step& step) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  step();
  return true;
}

class PngDecoder {
 public:
  PngDecoder(std::string_view bytes, std::string_view name) : name_(name) {
    source_.rest = bytes;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_.complaint, on_error, on_warning);
    expects(png_ != nullptr, "libpng is not the version this program was built with");
    info_ = png_create_info_struct(png_);
    guarded([&] {
      png_set_read_fn(png_, &source_, on_read);
      png_read_info(png_, info_);
    });
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  [[nodiscard]] int64_t width() const { return png_get_image_width(png_, info_); }
  [[nodiscard]] int64_t height() const { return png_get_image_height(png_, info_); }

  // From here on rows are 8-bit RGBA, whatever the file holds. Whether they come one by one.
  bool start() {
    int passes = 0;
    guarded([&] {
      png_set_expand(png_);
      png_set_scale_16(png_);
      png_set_gray_to_rgb(png_);
      png_set_add_alpha(png_, 0xFF, PNG_FILLER_AFTER);
      passes = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    return passes == 1;
  }
  void read_row(png_bytep row) {
    guarded([&] { png_read_row(png_, row, nullptr); });
  }
  void read_all(std::vector<png_bytep>& rows) {
    guarded([&] { png_read_image(png_, rows.data()); });
  }
  void finish() {
    guarded([&] { png_read_end(png_, info_); });
  }

  int orientation() {
    png_uint_32 size = 0;
    png_bytep bytes = nullptr;
    if (png_get_eXIf_1(png_, info_, &size, &bytes) == 0) return 1;
    return exif_orientation({reinterpret_cast<const char*>(bytes), size});
  }

 private:
  template <typename Step>
  void guarded(const Step& step) {
    if (survives(png_, step)) return;
    // The destructor doesn't run when the constructor throws; destroying twice is harmless.
    png_destroy_read_struct(&png_, &info_, nullptr);
    throw Error(fmt::format("{}: {} PNG ({})", name_,
                            source_.complaint.truncated ? "truncated" : "damaged",
                            source_.complaint.text));
  }

  std::string_view name_;
  Source source_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void lay_over_white(const uint8_t* rgba, int64_t count, uint8_t* rgb) {
  for (int64_t i = 0; i < count; ++i, rgba += 4) {
    const int alpha = rgba[3];
    for (int c = 0; c < 3; ++c) {
      *rgb++ = static_cast<uint8_t>((rgba[c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
  }
}

}  // namespace

int64_t pixels_of_png(std::string_view bytes, std::string_view name) {
  const PngDecoder decoder(bytes, name);
  return decoder.width() * decoder.height();
}

Image decode_png(std::string_view bytes, std::string_view name, int64_t max_pixels) {
  PngDecoder decoder(bytes, name);
  const int64_t width = decoder.width();
  const int64_t height = decoder.height();
  ensure(width * height <= max_pixels,
         "{}: {} x {} pixels is more than the {} accepted; make it smaller first", name, width,
         height, max_pixels);
  auto image = Image::blank(width, height);
  const bool row_by_row = decoder.start();
  std::vector<uint8_t> rgba(static_cast<std::size_t>(width * 4 * (row_by_row ? 1 : height)));
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < height; ++y) {
    rows.push_back(rgba.data() + (row_by_row ? 0 : y * width * 4));
  }
  if (!row_by_row) decoder.read_all(rows);
  for (int64_t y = 0; y < height; ++y) {
    auto* row = rows[static_cast<std::size_t>(y)];
    if (row_by_row) decoder.read_row(row);
    lay_over_white(row, width, image.at(0, y));
  }
  decoder.finish();
  return upright(std::move(image), decoder.orientation());
}

namespace {

void on_write(png_structp png, png_bytep bytes, std::size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))
      ->append(reinterpret_cast<const char*>(bytes), count);
}

void on_flush(png_structp /*png*/) {}

void compress(png_structp png, png_infop info, const Image& image, std::string& bytes) {
  png_set_write_fn(png, &bytes, on_write, on_flush);
  png_set_compression_level(png, kCompressionLevel);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_PAETH);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int64_t y = 0; y < image.height; ++y) png_write_row(png, image.at(0, y));
  png_write_end(png, info);
}

}  // namespace

std::string encode_png(const Image& image) {
  expects(image.width > 0 && image.height > 0, "an empty image can't be a PNG");
  Complaint complaint;
  std::string bytes;
  auto* png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &complaint, on_error, on_warning);
  expects(png != nullptr, "libpng is not the version this program was built with");
  auto* info = png_create_info_struct(png);
  const bool fine = survives(png, [&] { compress(png, info, image, bytes); });
  png_destroy_write_struct(&png, &info);
  ensure(fine, "PNG encoding failed: {}", complaint.text);
  return bytes;
}

}  // namespace partwise::images
