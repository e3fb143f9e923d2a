#include "partwise/report/html.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/images/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace partwise::report {
namespace {

TEST(Text, DisarmsMarkup) {
  EXPECT_EQ(text("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
  EXPECT_EQ(text("\" onload='x'"), "&quot; onload=&#39;x&#39;");
}

TEST(Decimal, ShowsMissingNumbersAsADash) {
  EXPECT_EQ(decimal(std::nan("")), "–");
  EXPECT_EQ(decimal(std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(percent(std::nan("")), "–");
  EXPECT_EQ(decimal(0.12345), "0.123");
  EXPECT_EQ(decimal(-0.5, 1), "−0.5");
  EXPECT_EQ(decimal(-0.0001), "0.000");
  EXPECT_EQ(percent(0.9583), "95.8\u00A0%");
  EXPECT_EQ(decimal(0.9625, 3), "0.963");
  EXPECT_EQ(percent(0.9625), "96.3\u00A0%");
  EXPECT_EQ(percent_number(0.9625), "96.3");
  EXPECT_EQ(percent(-0.25), "−25.0\u00A0%");
}

TEST(Anchor, HoldsNothingButLettersDigitsAndHyphens) {
  EXPECT_EQ(anchor("Ordinary+layer \"<x>"), "ordinary-layer-x-");
  EXPECT_EQ(anchor(""), "x");
}

TEST(Plain, WritesFlatValuesAsAPersonWould) {
  EXPECT_EQ(plain(nlohmann::json("tiny")), "tiny");
  EXPECT_EQ(plain(nlohmann::json(0.1)), "0.1");
  EXPECT_EQ(plain(nlohmann::json(true)), "true");
  EXPECT_EQ(plain(nlohmann::json()), "–");
}

TEST(Picture, RefusesWhatIsNoPng) {
  const auto path = std::filesystem::path(testing::TempDir()) / "partwise-not-a.png";
  write_file_atomically(path, "<svg onload=alert(1)> and some more bytes to be long enough");
  EXPECT_THROW(read_picture(path, 100), Error);
  std::filesystem::remove(path);
  EXPECT_THROW(read_picture(path, 100), Error);
}

TEST(Picture, IsMadeNoWiderThanAllowed) {
  const auto png = images::encode_png(images::Image::blank(300, 100, 99));
  EXPECT_EQ(picture_from_png(png, "a.png", 300).width, 300);
  const auto narrow = picture_from_png(png, "a.png", 150);
  EXPECT_EQ(narrow.width, 150);
  EXPECT_EQ(narrow.height, 50);
}

// Noise, which PNG cannot pack: what a photograph is to it.
TEST(Picture, OfAPhotographIsAJpeg) {
  auto photo = images::Image::blank(200, 200);
  Random random(1);
  for (auto& byte : photo.pixels) byte = static_cast<uint8_t>(random.bits() & 0xFFU);
  EXPECT_TRUE(picture_from_png(images::encode_png(photo), "a.png")
                  .data_uri.starts_with("data:image/jpeg;base64,"));
}

}  // namespace
}  // namespace partwise::report
