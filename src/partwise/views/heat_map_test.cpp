#include "partwise/views/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace partwise::views {
namespace {

using images::Image;

double luminance(const uint8_t* p) {
  return 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
}

TEST(HeatColour, GetsLighterWithEveryStep) {
  double before = -1.0;
  for (int step = 0; step <= 64; ++step) {
    const double now = luminance(heat_colour(step / 64.0).data());
    EXPECT_GT(now, before) << step;
    before = now;
  }
}

TEST(HeatColour, ClampsWhatLiesOutside) {
  EXPECT_EQ(heat_colour(-3.0), heat_colour(0.0));
  EXPECT_EQ(heat_colour(7.0), heat_colour(1.0));
  EXPECT_EQ(heat_colour(std::numeric_limits<double>::quiet_NaN()), heat_colour(0.0));
}

// Cells of a 3 x 3 map at input pixels 5, 15, 25 of a 31-pixel input.
constexpr HeatGrid kGrid{3, 5.0, 10.0, 31.0};

TEST(OverlayMap, GlowsMostAtTheUnitCentreOfTheStrongestCell) {
  std::vector<float> map(9, 0.0F);
  map[5] = 2.0F;  // row 1, column 2
  const Image image = overlay_map(Image::blank(31, 31, 128), map, kGrid, 2.0, PeakMark::none);
  int64_t best = 0;
  for (int64_t p = 1; p < 31 * 31; ++p) {
    if (luminance(image.at(p % 31, p / 31)) > luminance(image.at(best % 31, best / 31))) best = p;
  }
  EXPECT_EQ(best % 31, 25);  // beyond the last centre the map stays constant; the first one wins
  EXPECT_EQ(best / 31, 15);
  EXPECT_GT(luminance(image.at(20, 15)), luminance(image.at(10, 15)));
}

TEST(OverlayMap, FollowsThePhotoWhenItIsShownLargerThanTheInput) {
  std::vector<float> map(9, 0.0F);
  map[4] = 1.0F;
  const Image image = overlay_map(Image::blank(93, 93, 128), map, kGrid, 1.0, PeakMark::none);
  EXPECT_GT(luminance(image.at(46, 46)), luminance(image.at(46 - 15, 46)));
  EXPECT_EQ(luminance(image.at(46 - 15, 46)), luminance(image.at(46 + 15, 46)));
}

TEST(OverlayMap, LeavesASilentMapsPhotoRecognisable) {
  Image photo = Image::blank(31, 31, 40);
  std::fill_n(photo.at(3, 3), 3, uint8_t{220});
  for (const double max_value : {1.0, 0.0, -1.0}) {
    const Image image = overlay_map(photo, std::vector<float>(9, 0.0F), kGrid, max_value);
    EXPECT_GT(luminance(image.at(3, 3)), luminance(image.at(9, 9)) + 80);
  }
}

TEST(OverlayMap, MarksThePeakAndSurvivesNonsense) {
  std::vector<float> map(9, 0.0F);
  map[0] = std::numeric_limits<float>::infinity();
  map[4] = 1.0F;
  EXPECT_NO_THROW(overlay_map(Image::blank(31, 31), map, kGrid, 1.0));
  map[0] = 0.0F;
  const Image cross = overlay_map(Image::blank(31, 31, 128), map, kGrid, 1.0, PeakMark::cross);
  EXPECT_EQ(*cross.at(15, 15), 255);
}

TEST(OverlayMap, RefusesAMapOfAnotherSize) {
  EXPECT_THROW(overlay_map(Image::blank(31, 31), std::vector<float>(8), kGrid, 1.0),
               std::logic_error);
}

TEST(ContactSheet, PlacesPicturesInRows) {
  const std::vector<Image> pictures = {Image::blank(4, 4, 10), Image::blank(4, 4, 20),
                                       Image::blank(2, 2, 30)};
  const Image sheet = contact_sheet(pictures, 2, 1, 200);
  EXPECT_EQ(sheet.width, 9);
  EXPECT_EQ(sheet.height, 9);
  EXPECT_EQ(*sheet.at(0, 0), 10);
  EXPECT_EQ(*sheet.at(4, 0), 200);
  EXPECT_EQ(*sheet.at(5, 0), 20);
  EXPECT_EQ(*sheet.at(1, 6), 30);  // centred in its cell
  EXPECT_EQ(*sheet.at(0, 5), 200);
}

TEST(ContactSheet, OfNothingIsEmpty) {
  EXPECT_EQ(contact_sheet({}, 4, 2).width, 0);
}

}  // namespace
}  // namespace partwise::views
