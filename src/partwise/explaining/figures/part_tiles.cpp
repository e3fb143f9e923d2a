#include "partwise/explaining/figures/part_tiles.h"

#include "partwise/explaining/figures/tiles.h"
#include "partwise/views/contour.h"

#include <algorithm>
#include <cmath>

namespace partwise::explaining {
namespace {

constexpr std::size_t kMostBars = 6;
constexpr views::Colour kOtherColour = {150, 150, 150};
constexpr double kBarNames = 112.0;  // width of their column
constexpr double kBarValues = 44.0;  // likewise

}  // namespace

views::Colour PartColours::of(const std::string& part) {
  if (part == kOtherFilters) return kOtherColour;
  return views::part_colour(index_.try_emplace(part, std::ssize(index_)).first->second);
}

Tile parts_tile(const images::Image& photo,
                const Explanation& explanation,
                PartColours& colours,
                const std::function<bool(const PartShare&)>& shown,
                std::string note) {
  auto tile = photo_tile(photo, std::move(note));
  for (auto part = explanation.parts.rbegin(); part != explanation.parts.rend(); ++part) {
    if (part->outlines.empty() || !shown(*part)) continue;
    add_on_top(tile,
               [outlines = part->outlines, colour = colours.of(part->name),
                side = static_cast<double>(photo.width)](views::Figure& sheet, const Box& place) {
                 sheet.region(moved_onto(outlines, side, place), std::nullopt,
                              views::Stroke{.colour = colour, .width = 2.0, .halo = true});
               });
  }
  return tile;
}

std::vector<PartBar> largest_bars(const Explanation& explanation,
                                  double PartShare::*value,
                                  double PartShare::*error,
                                  PartColours& colours) {
  std::vector<PartShare> parts = explanation.parts;
  std::stable_sort(parts.begin(), parts.end(), [&](const PartShare& a, const PartShare& b) {
    return std::abs(a.*value) > std::abs(b.*value);
  });
  std::vector<PartBar> bars;
  PartBar rest{"", 0.0, 0.0, kOtherColour};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts.size() <= kMostBars || i + 1 < kMostBars) {
      bars.push_back(
          {parts[i].label(), parts[i].*value, parts[i].*error, colours.of(parts[i].name)});
    } else {
      rest.value += parts[i].*value;
      rest.error = std::hypot(rest.error, parts[i].*error);
      rest.name = fmt::format("{} smaller ones", i + 2 - kMostBars);
    }
  }
  if (!rest.name.empty()) bars.push_back(rest);
  return bars;
}

std::string signed_number(double value, bool signs) {
  const auto digits = fmt::format("{:.2f}", std::abs(value));
  const bool zero = digits == "0.00";
  return (zero ? "" : value < 0.0 ? "−" : signs ? "+" : "") + digits;
}

Tile bars_tile(std::vector<PartBar> bars, double low, double high, BarSides sides) {
  return {[bars = std::move(bars), low, high, sides = std::move(sides)](views::Figure& sheet,
                                                                        const Box& place) {
    const double left = place.x + kBarNames;
    const double width = place.width - kBarNames - kBarValues;
    const auto across = [&](double value) {
      return high > low ? left + width * (std::clamp(value, low, high) - low) / (high - low) : left;
    };
    const double step = place.height / static_cast<double>(kMostBars);
    const views::TextStyle name{.size = 11, .anchor = views::Anchor::end};
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const auto& bar = bars[i];
      const double top = place.y + step * static_cast<double>(i);
      const double middle = top + step / 2.0;
      sheet.text({left - 8.0, middle + 4.0}, views::fitted(bar.name, kBarNames - 10.0, name), name);
      const double from = std::min(across(0.0), across(bar.value));
      const double to = std::max(across(0.0), across(bar.value));
      sheet.rectangle({from, top + 3.0, std::max(to - from, 0.5), step - 6.0}, bar.colour,
                      views::Stroke{.colour = views::kMutedInk, .width = 0.5});
      if (bar.error > 0.0) {
        sheet.path(std::vector<Point>{{across(bar.value - bar.error), middle},
                                      {across(bar.value + bar.error), middle}},
                   {.colour = views::kInk, .width = 1.2});
      }
      sheet.text({place.x + place.width, middle + 4.0}, signed_number(bar.value, true),
                 {.size = 11, .colour = views::kMutedInk, .anchor = views::Anchor::end});
    }
    const double zero = across(0.0);
    sheet.path(std::vector<Point>{{zero, place.y}, {zero, place.y + place.height}},
               {.colour = views::kInk, .width = 1.0});
    const double baseline = place.y + place.height + 13.0;
    const views::TextStyle side{.size = 11, .colour = views::kMutedInk};
    auto before = side;
    before.anchor = views::Anchor::end;
    sheet.text({zero - 6.0, baseline},
               views::fitted(sides.below, std::max(zero - place.x - 6.0, 0.0), side), before);
    sheet.text({zero + 6.0, baseline},
               views::fitted(sides.above, std::max(place.x + place.width - zero - 6.0, 0.0), side),
               side);
  }};
}

}  // namespace partwise::explaining
