#include "partwise/base/error.h"
#include "partwise/images/codec.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

// jpeglib.h needs FILE and size_t declared before it.
#include <jerror.h>
#include <jpeglib.h>

namespace partwise::images {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;

// libjpeg reports by calling back; C code can't be left by an exception, so it is left by longjmp
// and the exception is thrown from our own frame.
struct Complaints {
  jpeg_error_mgr manager{};  // must be first: libjpeg hands back a pointer to it
  std::jmp_buf escape{};
  std::array<char, JMSG_LENGTH_MAX> text{};
  bool truncated = false;
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* complaints = reinterpret_cast<Complaints*>(info->err);
  info->err->format_message(info, complaints->text.data());
  std::longjmp(complaints->escape, 1);
}

void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  const int code = info->err->msg_code;
  if (code != JWRN_JPEG_EOF && code != JWRN_HIT_MARKER) return;
  reinterpret_cast<Complaints*>(info->err)->truncated = true;
  leave(info);
}

jpeg_error_mgr* prepare(Complaints& complaints) {
  auto* manager = jpeg_std_error(&complaints.manager);
  manager->error_exit = leave;
  manager->emit_message = on_message;
  return manager;
}

// Runs libjpeg calls; `step` must own nothing, since longjmp skips destructors.
template <typename Step>
bool survives(Complaints& complaints, const Step& step) {
  if (setjmp(complaints.escape) != 0) return false;
  step();
  return true;
}

class JpegDecoder {
 public:
  JpegDecoder(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {
    info_.err = prepare(complaints_);
    guarded([&] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()),
                   static_cast<unsigned long>(bytes.size()));
      jpeg_save_markers(&info_, kExifMarker, 0xFFFF);
      jpeg_read_header(&info_, TRUE);
    });
    scan_ = bytes.size() - info_.src->bytes_in_buffer;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  [[nodiscard]] int64_t width() const { return info_.image_width; }
  [[nodiscard]] int64_t height() const { return info_.image_height; }
  [[nodiscard]] bool four_inks() const {
    return info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  }
  // Adobe's programs store the inks inverted and leave their mark.
  [[nodiscard]] bool inverted_inks() const { return info_.saw_Adobe_marker != 0; }

  [[nodiscard]] int orientation() const {
    for (auto* marker = info_.marker_list; marker != nullptr; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      constexpr std::string_view kHead("Exif\0\0", 6);
      if (data.starts_with(kHead)) return exif_orientation(data.substr(kHead.size()));
    }
    return 1;
  }

  // Decodes at 1/reduction of the size what `needed` covers (empty or not inside: everything), and
  // perhaps some columns around it. Four inks come as four channels, with room for them.
  ReducedImage read(int64_t reduction, const Window& needed) {
    guarded([&] {
      info_.scale_num = 1;
      info_.scale_denom = static_cast<unsigned>(reduction);
      info_.out_color_space = four_inks() ? JCS_CMYK : JCS_RGB;
      jpeg_start_decompress(&info_);
    });
    ReducedImage piece{{}, reduction, width(), height()};
    auto rows = info_.output_height;
    if (lies_inside(needed)) {
      cut_columns(needed, reduction, piece);
      piece.top = needed.y / reduction;
      rows = static_cast<JDIMENSION>((needed.y + needed.height - 1) / reduction + 1 - piece.top);
    }
    const auto row_bytes = std::size_t{info_.output_width} * (four_inks() ? 4U : 3U);
    piece.image.width = info_.output_width;
    piece.image.height = rows;
    piece.image.pixels.resize(rows * row_bytes);
    auto* pixels = piece.image.pixels.data();
    guarded([&] {
      const auto top = static_cast<JDIMENSION>(piece.top);
      if (top > 0) jpeg_skip_scanlines(&info_, top);
      while (info_.output_scanline < top + rows) {
        auto* row = pixels + (info_.output_scanline - top) * row_bytes;
        jpeg_read_scanlines(&info_, &row, 1);
      }
      if (info_.output_scanline == info_.output_height) {
        jpeg_finish_decompress(&info_);
      } else if (!ends()) {
        WARNMS(&info_, JWRN_JPEG_EOF);  // what is left would have said so
      }
    });
    return piece;
  }

 private:
  template <typename Step>
  void guarded(const Step& step) {
    if (survives(complaints_, step)) return;
    // The destructor doesn't run when the constructor throws; destroying twice is harmless.
    jpeg_destroy_decompress(&info_);
    throw Error(fmt::format("{}: {} JPEG ({})", name_,
                            complaints_.truncated || !ends() ? "truncated" : "damaged",
                            complaints_.text.data()));
  }

  // With the marker every JPEG ends with. A thumbnail before the scans ends with one, too.
  [[nodiscard]] bool ends() const {
    const auto at = bytes_.rfind("\xFF\xD9");
    return at != std::string_view::npos && at >= scan_;
  }

  [[nodiscard]] bool lies_inside(const Window& window) const {
    return window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
           window.x + window.width <= width() && window.y + window.height <= height();
  }

  // Colours are interpolated between neighbours; at the border of what is decoded there are none.
  // Columns beside the window are therefore decoded with it; rows above and below it come by
  // themselves.
  void cut_columns(const Window& needed, int64_t reduction, ReducedImage& piece) {
    constexpr int64_t kNeighbours = 4;
    const int64_t right = (needed.x + needed.width - 1) / reduction + 1 + kNeighbours;
    auto left = static_cast<JDIMENSION>(std::max(int64_t{0}, needed.x / reduction - kNeighbours));
    auto columns = std::min(info_.output_width, static_cast<JDIMENSION>(right)) - left;
    guarded([&] { jpeg_crop_scanline(&info_, &left, &columns); });
    piece.left = left;
  }

  std::string_view bytes_;
  std::string_view name_;
  std::size_t scan_ = 0;  // where the picture's data begin
  Complaints complaints_;
  jpeg_decompress_struct info_{};
};

void rgb_from_inks(Image& image, bool inverted) {
  auto& pixels = image.pixels;
  for (std::size_t i = 0; i < pixels.size() / 4; ++i) {
    const auto light = [&](std::size_t ink) {
      return inverted ? int{pixels[4 * i + ink]} : 255 - int{pixels[4 * i + ink]};
    };
    const int black = light(3);
    for (std::size_t c = 0; c < 3; ++c) {
      pixels[3 * i + c] = static_cast<uint8_t>((light(c) * black + 127) / 255);
    }
  }
  pixels.resize(pixels.size() / 4 * 3);
}

}  // namespace

int64_t pixels_of_jpeg(std::string_view bytes, std::string_view name) {
  const JpegDecoder decoder(bytes, name);
  return decoder.width() * decoder.height();
}

ReducedImage decode_jpeg(std::string_view bytes,
                         std::string_view name,
                         int64_t max_pixels,
                         int64_t reduction,
                         const Window& needed) {
  JpegDecoder decoder(bytes, name);
  ensure(decoder.width() * decoder.height() <= max_pixels,
         "{}: {} x {} pixels is more than the {} accepted; make it smaller first", name,
         decoder.width(), decoder.height(), max_pixels);
  const int orientation = decoder.orientation();  // reading the pixels forgets the markers
  const bool stored_upright = orientation == 1;   // turned, its blocks would begin at the other end
  auto seen = decoder.read(stored_upright ? reduction : 1, stored_upright ? needed : Window{});
  if (decoder.four_inks()) rgb_from_inks(seen.image, decoder.inverted_inks());
  if (stored_upright) return seen;
  seen.image = upright(std::move(seen.image), orientation);
  if (orientation >= 5) std::swap(seen.width, seen.height);
  return seen;
}

namespace {

// What libjpeg allocated for the result; the caller frees it, whatever happened.
struct Encoded {
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
};

void compress(jpeg_compress_struct& info, const Image& image, int quality, Encoded& encoded) {
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &encoded.bytes, &encoded.size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<uint8_t*>(image.at(0, info.next_scanline));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
}

}  // namespace

std::string encode_jpeg(const Image& image, int quality) {
  expects(image.width > 0 && image.height > 0, "an empty image can't be a JPEG");
  Complaints complaints;
  jpeg_compress_struct info{};
  info.err = prepare(complaints);
  Encoded encoded;
  const bool fine = survives(complaints, [&] { compress(info, image, quality, encoded); });
  jpeg_destroy_compress(&info);
  std::string bytes;
  if (fine) bytes.assign(reinterpret_cast<const char*>(encoded.bytes), encoded.size);
  std::free(encoded.bytes);
  ensure(fine, "JPEG encoding failed: {}", complaints.text.data());
  return bytes;
}

}  // namespace partwise::images
