#include "partwise/report/html.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/json_text.h"
#include "partwise/formats/base64.h"
#include "partwise/images/codec.h"
#include "partwise/images/resize.h"
#include "partwise/views/markup.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace partwise::report {

namespace {

constexpr std::string_view kPngSignature("\x89PNG\r\n\x1A\n", 8);
constexpr std::size_t kLargestPicture = std::size_t{32} << 20U;
constexpr int64_t kMostPixels = 40'000'000;
constexpr std::size_t kLargePng = 20'000;  // bytes from which a photo is worth a JPEG
constexpr int kJpegQuality = 86;

// Not even a hostile name could make the page fetch or run anything.
constexpr const char* kPolicy =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'";

}  // namespace

std::string text(std::string_view value) {
  return views::escape_markup(value);
}

Picture read_picture(const std::filesystem::path& path, int64_t widest) {
  return picture_from_png(read_file(path, kLargestPicture), path.string(), widest);
}

Picture picture_from_png(const std::string& png, const std::string& name, int64_t widest) {
  ensure(png.starts_with(kPngSignature), "{}: not a PNG picture", name);
  images::Image image = images::decode_image(png, name, kMostPixels);
  const bool wide = image.width > widest;
  if (wide) {
    const auto height = std::max<int64_t>(1, image.height * widest / image.width);
    image = images::resize_antialiased(image, {0, 0, image.width, image.height}, widest, height);
  }
  const std::string whole = wide ? images::encode_png(image) : png;
  Picture picture{"", image.width, image.height};
  const std::string jpeg =
      whole.size() > kLargePng ? images::encode_jpeg(image, kJpegQuality) : whole;
  picture.data_uri = jpeg.size() < whole.size() ? "data:image/jpeg;base64," + formats::base64(jpeg)
                                                : "data:image/png;base64," + formats::base64(whole);
  return picture;
}

std::string plain(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "–";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return json_text(value);
}

std::string decimal(double value, int decimals) {
  if (!std::isfinite(value)) return "–";
  const std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
  return (value < 0.0 && !is_zero ? "−" : "") + digits;
}

std::string percent_number(double value) {
  if (!std::isfinite(value)) return "–";
  return decimal(100.0 * std::stod(fmt::format("{:.3f}", value)), 1);
}

std::string percent(double value) {
  return std::isfinite(value) ? percent_number(value) + "\u00A0%" : "–";
}

std::string plain_number(double value, const char* missing) {
  if (!std::isfinite(value)) return missing;
  const bool small = value != 0.0 && std::abs(value) < 0.02;
  return small ? fmt::format("{:.5f}", value) : fmt::format("{:.3f}", value);
}

std::string plain_interval(const metrics::Finding& finding, const char* missing) {
  if (!std::isfinite(finding.value)) return missing;
  return fmt::format("{} [{}, {}]", plain_number(finding.value, missing),
                     plain_number(finding.low, missing), plain_number(finding.high, missing));
}

std::string anchor(std::string_view value) {
  std::string id;
  for (const char byte : value) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 128 && std::isalnum(code) != 0) {
      id += static_cast<char>(std::tolower(code));
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  return id.empty() ? "x" : id;
}

std::string page_head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"generator\" "
      "content=\"partwise\">\n<title>{}</title>\n<style>{}</style>\n</head>\n",
      kPolicy, text(title), style_sheet());
}

}  // namespace partwise::report
