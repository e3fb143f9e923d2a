#include "partwise/views/figure.h"

#include "partwise/views/contour.h"
#include "partwise/views/golden_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

namespace partwise::views {
namespace {

using images::Image;

bool is_white(const Image& image, int64_t x, int64_t y) {
  return std::all_of(image.at(x, y), image.at(x, y) + 3, [](uint8_t v) { return v == 255; });
}

Colour colour_at(const Image& image, int64_t x, int64_t y) {
  return {image.at(x, y)[0], image.at(x, y)[1], image.at(x, y)[2]};
}

int64_t inked_pixels(const Image& image) {
  int64_t count = 0;
  for (int64_t p = 0; p < image.width * image.height; ++p) {
    count += is_white(image, p % image.width, p / image.width) ? 0 : 1;
  }
  return count;
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Enough of XML for what figures write: tags are balanced, attributes quoted, no stray sign.
bool is_well_formed(const std::string& xml) {
  static const std::regex kPiece(
      R"re(<(/?)([a-z]+)((?: [a-zA-Z:-]+="[^"<]*")*)(/?)>|([^<>&"]|&(?:amp|lt|gt|quot|#39);)+)re");
  std::vector<std::string> open;
  auto at = xml.cbegin();
  std::smatch match;
  while (at != xml.cend()) {
    if (!std::regex_search(at, xml.cend(), match, kPiece, std::regex_constants::match_continuous)) {
      return false;
    }
    at = match[0].second;
    if (!match[2].matched || match[4].length() > 0) continue;
    if (match[1].length() == 0) {
      open.push_back(match[2]);
    } else {
      if (open.empty() || open.back() != match[2]) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

Image gradient(int64_t width, int64_t height) {
  Image image = Image::blank(width, height);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      image.at(x, y)[0] = static_cast<uint8_t>(255 * x / width);
      image.at(x, y)[1] = static_cast<uint8_t>(255 * y / height);
      image.at(x, y)[2] = 120;
    }
  }
  return image;
}

// Everything a figure can hold, as small as it can be.
Figure specimen() {
  Figure figure(300, 190);
  figure.text({150, 20}, "Why fox: Δ logit +3.4 ± 0.2",
              {.size = 16, .bold = true, .anchor = Anchor::middle});
  figure.picture(gradient(60, 60), {24, 34, 110, 110});
  figure.picture(gradient(4, 4), {146, 34, 60, 60}, Scaling::crisp);
  figure.text({16, 89}, "input", {.size = 11, .anchor = Anchor::middle, .rising = true});
  std::vector<float> field;
  for (int64_t p = 0; p < 110 * 110; ++p) {
    const double x = static_cast<double>(p % 110) - 55.0;
    const double y = static_cast<double>(p / 110) - 50.0;
    const double from = std::hypot(x, y);
    field.push_back(
        static_cast<float>(std::min(36.0 + 6.0 * std::sin(0.1 * x) - from, from - 12.0)));
  }
  auto outlines = contours(field, 110, 110, 0.0);
  for (auto& outline : outlines) {
    for (Point& point : outline) point = {point.x + 24, point.y + 34};
  }
  figure.region(outlines, Fill(part_colour(3), 0.35), Stroke{part_colour(3), 2.0, true});
  figure.text({79, 138}, "head · 62 %", {.anchor = Anchor::middle, .halo = true});
  figure.text({150, 50}, "7 × 7", {.size = 11, .colour = {255, 255, 255}, .halo = true});
  for (int64_t k = 0; k < kPartColours; ++k) {
    const double x = 146.0 + 12.0 * static_cast<double>(k);
    figure.rectangle({x, 104, 10, 18}, part_colour(k));
    figure.path(std::vector<Point>{{x, 128}, {x + 5, 140}, {x + 10, 128}},
                {.colour = part_colour(k), .width = 2.0});
  }
  figure.rectangle({216.5, 34.5, 70, 60}, Colour{240, 240, 240},
                   Stroke{{150, 150, 150}, 1.0, false});
  figure.path(std::vector<Point>{{222, 88}, {240, 70}, {256, 76}, {280, 42}},
              {.colour = part_colour(4), .width = 2.0, .halo = true, .dash = {5.0, 4.0}});
  const TextStyle small{.size = 11, .colour = kMutedInk};
  figure.text({24, 162}, fitted("A name that is longer than its picture", 110, small), small);
  figure.text({288, 162}, "größer: 12 µm → 3°", {.anchor = Anchor::end});
  figure.text({24, 180}, "<b>\"&\xFF漢</b>", {.size = 11, .bold = true});
  return figure;
}

TEST(Figure, LooksAsItDid) {
  expect_golden(specimen().image(), "figure");
}

TEST(Figure, PutsPixelsWhereAsked) {
  Figure figure(40, 30);
  figure.rectangle({5, 6, 10, 8}, Colour{200, 10, 20});
  const Image image = figure.image();
  EXPECT_EQ(image.width, 40);
  EXPECT_EQ(image.height, 30);
  EXPECT_EQ(colour_at(image, 5, 6), (Colour{200, 10, 20}));
  EXPECT_EQ(colour_at(image, 14, 13), (Colour{200, 10, 20}));
  EXPECT_EQ(inked_pixels(image), 80);
  Figure line(20, 20);
  line.path(std::vector<Point>{{2, 10.5}, {18, 10.5}}, {.colour = {0, 0, 0}, .width = 1.0});
  EXPECT_EQ(colour_at(line.image(), 10, 10), (Colour{0, 0, 0}));
  EXPECT_TRUE(is_white(line.image(), 10, 9));
  EXPECT_TRUE(is_white(line.image(), 10, 11));
}

TEST(Figure, AtScaleTwoIsTwiceAsLarge) {
  const Image image = specimen().image(2.0);
  EXPECT_EQ(image.width, 600);
  EXPECT_EQ(image.height, 380);
  Figure figure(10, 10);
  figure.rectangle({2, 3, 4, 5}, kInk);
  EXPECT_EQ(inked_pixels(figure.image(2.0)), 80);
}

TEST(Figure, CutsOffWhatLiesOutside) {
  Figure figure(20, 20);
  figure.picture(gradient(9, 9), {-30, -4, 40, 400});
  figure.rectangle({-1e12, 15, 3e12, 1e12}, Colour{9, 9, 9}, Stroke{});
  figure.path(std::vector<Point>{{-1e9, -1e9}, {1e9, 1e9}}, {.halo = true, .dash = {1e8, 1e8}});
  figure.text({-500, 1e7}, "far away");
  EXPECT_EQ(colour_at(figure.image(), 19, 19), kInk);
  EXPECT_EQ(colour_at(figure.image(), 2, 18), (Colour{9, 9, 9}));
}

TEST(Figure, KeepsTheCellsOfACrispPictureSquare) {
  Image cells = Image::blank(2, 1, 0);
  std::fill_n(cells.at(1, 0), 3, uint8_t{200});
  Figure figure(20, 20);
  figure.picture(cells, {0, 0, 20, 10}, Scaling::crisp);
  figure.picture(cells, {0, 10, 20, 10});
  const Image image = figure.image();
  EXPECT_EQ(*image.at(9, 5), 0);
  EXPECT_EQ(*image.at(10, 5), 200);
  EXPECT_GT(*image.at(9, 15), 60);
  EXPECT_LT(*image.at(10, 15), 140);
}

TEST(Figure, LeavesAHoleUnpainted) {
  Figure figure(20, 20);
  const auto square = [](double low, double high) {
    return std::vector<Point>{{low, low}, {high, low}, {high, high}, {low, high}};
  };
  figure.region(std::vector{square(2, 18), square(8, 12)}, kInk);
  EXPECT_EQ(inked_pixels(figure.image()), 16 * 16 - 4 * 4);
}

TEST(Figure, DashesALine) {
  Figure figure(40, 10);
  figure.path(std::vector<Point>{{0, 5}, {40, 5}}, {.width = 2.0, .dash = {4.0, 8.0}});
  const Image image = figure.image();
  EXPECT_FALSE(is_white(image, 2, 4));
  EXPECT_TRUE(is_white(image, 8, 4));
  EXPECT_FALSE(is_white(image, 14, 4));
}

TEST(Figure, GivesAWellFormedDocumentWhateverTheNames) {
  const std::string svg = specimen().svg("</title><script>", "a \"b\" & 'c' \x01");
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(count_of(svg, "<script"), 0U);
  EXPECT_EQ(count_of(svg, "data:image/png;base64,"), 2U);
  EXPECT_NE(svg.find("<title>&lt;/title&gt;&lt;script&gt;</title>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;b&gt;&quot;&amp;\uFFFD漢&lt;/b&gt;</text>"), std::string::npos);
  EXPECT_NE(svg.find(R"(width="300" height="190" viewBox="0 0 300 190" role="img")"),
            std::string::npos);
  EXPECT_FALSE(is_well_formed("<a><b></a></b>"));
  EXPECT_FALSE(is_well_formed("<a>&</a>"));
}

TEST(Figure, EmbedsLargePhotographsSmaller) {
  Figure figure(100, 100);
  figure.picture(gradient(800, 800), {0, 0, 50, 50});
  Figure same(100, 100);
  same.picture(gradient(100, 100), {0, 0, 50, 50});
  EXPECT_LT(figure.svg("a", "b").size(), 2 * same.svg("a", "b").size());
}

TEST(Figure, RefusesNonsense) {
  EXPECT_THROW(Figure(0, 10), std::logic_error);
  Figure figure(10, 10);
  EXPECT_THROW(figure.text({NAN, 0}, "a"), std::logic_error);
  EXPECT_THROW(figure.picture(Image{}, {0, 0, 5, 5}), std::logic_error);
  EXPECT_THROW(figure.rectangle({0, 0, INFINITY, 5}, kInk), std::logic_error);
  EXPECT_EQ(inked_pixels(figure.image()), 0);
}

TEST(Fitted, IsNeverWiderThanAsked) {
  const TextStyle style;
  EXPECT_EQ(fitted("fox", 100, style), "fox");
  for (double width = 0; width < 105; width += 7) {
    const std::string cut = fitted("größer als der Platz", width, style);
    EXPECT_LE(text_width(cut, style), width);
    EXPECT_TRUE(cut.empty() || cut.ends_with("…")) << cut;
  }
  EXPECT_EQ(fitted("ab cdefghijk", text_width("ab c…", style) - 1.0, style), "ab…");
}

}  // namespace
}  // namespace partwise::views
