#include "partwise/explaining/figures/tiles.h"

#include "partwise/evidence/peak_gradients.h"
#include "partwise/evidence/receptive_field.h"
#include "partwise/views/contour.h"
#include "partwise/views/spotlight.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace partwise::explaining {

Tile photo_tile(images::Image photo, std::string note) {
  return {[photo = std::move(photo)](views::Figure& sheet, const Box& place) {
            sheet.picture(photo, place);
          },
          std::move(note)};
}

Tile cells_tile(std::span<const float> map, double low, double high, std::string note) {
  const auto side = std::llround(std::sqrt(static_cast<double>(map.size())));
  images::Image cells = images::Image::blank(side, side);
  for (std::size_t i = 0; i < map.size(); ++i) {
    const auto colour = views::heat_colour(high > low ? (map[i] - low) / (high - low) : 0.0);
    std::copy(colour.begin(), colour.end(), &cells.pixels[3 * i]);
  }
  return {[cells = std::move(cells)](views::Figure& sheet, const Box& place) {
            sheet.picture(cells, place, views::Scaling::crisp);
          },
          std::move(note)};
}

Tile heat_tile(const images::Image& photo,
               std::span<const float> map,
               const metrics::UnitGrid& grid,
               double highest,
               std::string note) {
  const views::HeatGrid heat{std::llround(std::sqrt(static_cast<double>(map.size()))), grid.offset,
                             grid.stride, static_cast<double>(grid.input_side)};
  return photo_tile(views::overlay_map(photo, map, heat, highest, views::PeakMark::none),
                    std::move(note));
}

Tile lit_tile(const images::Image& photo,
              std::span<const float> evidence,
              views::Colour colour,
              std::string note) {
  const float level = evidence::level_holding(evidence, evidence::kOutlinedShare);
  auto tile = photo_tile(views::spotlit(photo, evidence, level), std::move(note));
  if (!(level > 0.0F)) return tile;
  const auto outlines = views::contours(evidence, photo.width, photo.height, level);
  add_on_top(tile, [outlines, colour, side = static_cast<double>(photo.width)](views::Figure& sheet,
                                                                               const Box& place) {
    sheet.region(moved_onto(outlines, side, place), std::nullopt,
                 views::Stroke{.colour = colour, .width = 1.8, .halo = true});
  });
  return tile;
}

void add_on_top(Tile& tile, std::function<void(views::Figure&, const Box&)> paint) {
  tile.paint = [below = std::move(tile.paint), paint = std::move(paint)](views::Figure& sheet,
                                                                         const Box& place) {
    if (below) below(sheet, place);
    paint(sheet, place);
  };
}

std::vector<std::vector<Point>> moved_onto(const std::vector<std::vector<Point>>& outlines,
                                           double side,
                                           const Box& place) {
  constexpr double kInside = 1.6;  // half a line and its halo
  const auto along = [&](double at, double start, double extent) {
    return std::clamp(start + at * extent / side, start + kInside, start + extent - kInside);
  };
  auto moved = outlines;
  for (auto& outline : moved) {
    for (auto& point : outline) {
      point = {along(point.x, place.x, place.width), along(point.y, place.y, place.height)};
    }
  }
  return moved;
}

}  // namespace partwise::explaining
