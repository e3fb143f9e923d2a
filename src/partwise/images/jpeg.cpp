#include "partwise/base/error.h"
#include "partwise/images/codec.h"

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
  JpegDecoder(std::string_view bytes, std::string_view name)
      : name_(name), ends_(bytes.find("\xFF\xD9") != std::string_view::npos) {
    info_.err = prepare(complaints_);
    guarded([&] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()),
                   static_cast<unsigned long>(bytes.size()));
      jpeg_save_markers(&info_, kExifMarker, 0xFFFF);
      jpeg_read_header(&info_, TRUE);
    });
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

  // From here on the picture has the size of what is read.
  Image prepare_reduced(int64_t reduction) {
    guarded([&] {
      info_.scale_num = 1;
      info_.scale_denom = static_cast<unsigned>(reduction);
      jpeg_calc_output_dimensions(&info_);
    });
    return Image::blank(info_.output_width, info_.output_height);
  }

  // Rows of `channels` interleaved bytes into `pixels`, which is large enough.
  void read(uint8_t* pixels, std::size_t channels) {
    guarded([&] {
      info_.out_color_space = channels == 4 ? JCS_CMYK : JCS_RGB;
      jpeg_start_decompress(&info_);
      while (info_.output_scanline < info_.output_height) {
        auto* row = pixels + std::size_t{info_.output_scanline} * info_.output_width * channels;
        jpeg_read_scanlines(&info_, &row, 1);
      }
      jpeg_finish_decompress(&info_);
    });
  }

 private:
  template <typename Step>
  void guarded(const Step& step) {
    if (survives(complaints_, step)) return;
    // The destructor doesn't run when the constructor throws; destroying twice is harmless.
    jpeg_destroy_decompress(&info_);
    throw Error(fmt::format("{}: {} JPEG ({})", name_,
                            complaints_.truncated || !ends_ ? "truncated" : "damaged",
                            complaints_.text.data()));
  }

  std::string_view name_;
  bool ends_;  // with the marker every JPEG ends with
  Complaints complaints_;
  jpeg_decompress_struct info_{};
};

void rgb_from_inks(const std::vector<uint8_t>& inks, bool inverted, std::vector<uint8_t>& rgb) {
  for (std::size_t i = 0; i < inks.size() / 4; ++i) {
    const auto light = [&](std::size_t ink) {
      return inverted ? int{inks[4 * i + ink]} : 255 - int{inks[4 * i + ink]};
    };
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[3 * i + c] = static_cast<uint8_t>((light(c) * light(3) + 127) / 255);
    }
  }
}

}  // namespace

int64_t pixels_of_jpeg(std::string_view bytes, std::string_view name) {
  const JpegDecoder decoder(bytes, name);
  return decoder.width() * decoder.height();
}

ReducedImage decode_jpeg(std::string_view bytes,
                         std::string_view name,
                         int64_t max_pixels,
                         int64_t reduction) {
  JpegDecoder decoder(bytes, name);
  ensure(decoder.width() * decoder.height() <= max_pixels,
         "{}: {} x {} pixels is more than the {} accepted; make it smaller first", name, decoder.width(), decoder.height(),
         max_pixels);
  const int orientation = decoder.orientation();  // reading the pixels forgets the markers
  if (orientation != 1) reduction = 1;            // turned, its blocks would begin at the other end
  auto image = decoder.prepare_reduced(reduction);
  if (decoder.four_inks()) {
    std::vector<uint8_t> inks(image.pixels.size() / 3 * 4);
    decoder.read(inks.data(), 4);
    rgb_from_inks(inks, decoder.inverted_inks(), image.pixels);
  } else {
    decoder.read(image.pixels.data(), 3);
  }
  ReducedImage seen{upright(std::move(image), orientation), reduction, decoder.width(),
                    decoder.height()};
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
