#include "partwise/explaining/explanation_picture.h"

#include "partwise/images/resize.h"
#include "partwise/views/contour.h"
#include "partwise/views/markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::explaining {
namespace {

using views::Anchor;
using views::Figure;
using views::TextStyle;

constexpr double kMargin = 16.0;
constexpr double kPhoto = 420.0;  // longer side
constexpr double kNames = 130.0;  // columns of the chart
constexpr double kBars = 190.0;
constexpr double kGap = 22.0;
constexpr std::size_t kRows = 10;  // parts listed; the rest is summed up
constexpr views::Colour kRest = {150, 150, 150};

constexpr double kChart = kNames + 2.0 * kBars + kGap;

std::string percent_of(double share) {
  return fmt::format("{:.0f} %", std::round(100.0 * share) + 0.0);  // never "-0 %"
}

// A probability never rounds to certainty.
std::string chance(double probability) {
  if (probability > 0.995) return "> 99 %";
  if (probability < 0.005) return "< 1 %";
  return percent_of(probability);
}

// Parts that were outlined have a colour each, in the order of their shares.
struct Line {
  std::string name;
  views::Colour colour = kRest;
  bool outlined = false;
  double share = 0.0;
  double error = 0.0;
  double contrast = 0.0;
  double contrast_error = 0.0;
};

std::vector<Line> lines_of(const Explanation& explanation) {
  std::vector<Line> lines;
  Line rest{"smaller parts", kRest};
  const auto colours = outline_colours(explanation);
  for (std::size_t i = 0; i < explanation.parts.size(); ++i) {
    const auto& part = explanation.parts[i];
    if (lines.size() + 1 >= kRows && explanation.parts.size() > kRows) {
      rest.share += part.share;
      rest.contrast += part.contrast;
      rest.error = std::hypot(rest.error, part.error);
      rest.contrast_error = std::hypot(rest.contrast_error, part.contrast_error);
      continue;
    }
    lines.push_back({part.label(), colours[i].value_or(kRest), colours[i].has_value(), part.share,
                     part.error, part.contrast, part.contrast_error});
  }
  if (explanation.parts.size() > kRows) lines.push_back(rest);
  return lines;
}

struct PhotoPlace {
  Box place;
  double scale = 1.0;

  Point at(Point point) const { return {place.x + point.x * scale, place.y + point.y * scale}; }
};

PhotoPlace photo_place(const images::Image& photo, double top) {
  const auto longer = static_cast<double>(std::max(photo.width, photo.height));
  const double scale = kPhoto / longer;
  return {{kMargin, top, static_cast<double>(photo.width) * scale,
           static_cast<double>(photo.height) * scale},
          scale};
}

// Twice the pixels that are shown are enough.
images::Image shrunk(const images::Image& photo) {
  const auto longer = static_cast<double>(std::max(photo.width, photo.height));
  const double share = std::min(1.0, 2.0 * kPhoto / longer);
  const auto pixels = [&](int64_t extent) {
    return std::max<int64_t>(1, std::llround(share * static_cast<double>(extent)));
  };
  if (share == 1.0) return photo;
  return images::resize_antialiased(photo, {0, 0, photo.width, photo.height}, pixels(photo.width),
                                    pixels(photo.height));
}

// Outside the box a photograph is faded: the network has not seen it.
images::Image faded_outside(const images::Image& photo, const Box& box) {
  auto image = photo;
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      const double px = static_cast<double>(x) + 0.5;
      const double py = static_cast<double>(y) + 0.5;
      if (px >= box.x && px < box.x + box.width && py >= box.y && py < box.y + box.height) continue;
      auto* pixel = image.at(x, y);
      for (int c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>((pixel[c] + 2 * 255) / 3);
    }
  }
  return image;
}

enum class PartMarks { names, numbers };

void draw_photo(Figure& figure,
                const images::Image& photo,
                const Explanation& explanation,
                const PhotoPlace& place,
                PartMarks marks) {
  const bool whole = explanation.box.width >= static_cast<double>(photo.width) &&
                     explanation.box.height >= static_cast<double>(photo.height);
  const auto shown = shrunk(photo);
  const double share = static_cast<double>(shown.width) / static_cast<double>(photo.width);
  const Box box{explanation.box.x * share, explanation.box.y * share, explanation.box.width * share,
                explanation.box.height * share};
  figure.picture(whole ? shown : faded_outside(shown, box), place.place);
  if (!whole) {
    const auto corner = place.at({explanation.box.x, explanation.box.y});
    figure.rectangle({corner.x, corner.y, explanation.box.width * place.scale,
                      explanation.box.height * place.scale},
                     std::nullopt, views::Stroke{{255, 255, 255}, 1.0, true, {5.0, 4.0}});
  }
  const bool named = marks == PartMarks::names;
  const auto colours = outline_colours(explanation);
  struct Label {
    Point at;
    std::string words;
    views::Colour colour;
  };
  std::vector<Label> labels;
  for (std::size_t i = 0; i < explanation.parts.size(); ++i) {
    const auto& part = explanation.parts[i];
    if (!colours[i]) continue;
    auto shapes = part.outlines;
    for (auto& shape : shapes) {
      for (auto& point : shape) point = place.at(point);
    }
    // What speaks against the decision is dashed.
    const auto dash = part.share < 0.0 ? std::vector<double>{6.0, 5.0} : std::vector<double>{};
    figure.region(shapes, std::nullopt, views::Stroke{*colours[i], named ? 2.6 : 5.0, true, dash});
    if (named) {
      labels.push_back({place.at(*part.place), part.label(), {255, 255, 255}});
    } else {
      labels.push_back({place.at(*part.place), std::to_string(i + 1), *colours[i]});
    }
  }
  // Names stand where the evidence lies, moved apart where two would cover each other.
  const double size = named ? 13.0 : 34.0;
  const double line = size + 3.0;
  std::vector<Box> taken;
  for (const auto& [at, name, colour] : labels) {
    const TextStyle style{size, true, colour, Anchor::middle, true};
    const auto words = views::fitted(name, 140.0, style);
    const double width = views::text_width(words, style);
    const auto& frame = place.place;
    const double x = std::clamp(
        at.x, frame.x + width / 2.0 + 4.0,
        std::max(frame.x + width / 2.0 + 4.0, frame.x + frame.width - width / 2.0 - 4.0));
    double y = std::clamp(named ? at.y : at.y + size / 3.0, frame.y + size + 1.0,
                          std::max(frame.y + size + 1.0, frame.y + frame.height - 6.0));
    const auto covered = [&] {
      return std::any_of(taken.begin(), taken.end(), [&](const Box& other) {
        return std::abs(other.y - y) < line && std::abs(other.x - x) < (other.width + width) / 2.0;
      });
    };
    const double step = y > frame.y + frame.height / 2.0 ? -line : line;
    for (int tries = 0; tries < 12 && covered(); ++tries) y += step;
    taken.push_back({x, y, width, line});
    figure.text({x, y}, words, style);
  }
}

// Bars to both sides of a zero line, with whiskers of one standard error where there is one.
void draw_bars(Figure& figure,
               std::span<const Line> lines,
               double left,
               double top,
               const std::string& heading,
               double Line::*share,
               double Line::*error,
               double row,
               double most,
               double least,
               double whole) {
  const double label = 56.0;
  const double room = kBars - 2.0 * label;
  const double span = std::max(most - least, 1e-9);
  const auto x_of = [&](double value) { return left + label + room * (value - least) / span; };
  figure.text({left + kBars / 2.0, top}, heading, {12.0, true, views::kInk, Anchor::middle});
  const double zero = x_of(0.0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double y = top + 10.0 + row * static_cast<double>(i);
    const double value = lines[i].*share;
    const double end = x_of(value);
    figure.rectangle({std::min(zero, end), y + 3.0, std::abs(end - zero), row - 8.0},
                     views::Fill(lines[i].colour, 0.9));
    const double err = lines[i].*error;
    if (err > 0.005 * span) {
      const std::vector<Point> whisker{{x_of(value - err), y + row / 2.0 - 1.0},
                                       {x_of(value + err), y + row / 2.0 - 1.0}};
      figure.path(whisker, {views::kInk, 1.2});
    }
    const auto words = whole > 0.0 ? percent_of(value / whole) : fmt::format("{:+.2f}", value);
    const bool right = value >= 0.0;
    figure.text(
        {right ? std::max(end, zero) + 5.0 : std::min(end, zero) - 5.0, y + row / 2.0 + 3.0}, words,
        {11.0, false, views::kInk, right ? Anchor::start : Anchor::end});
  }
  const double height = 10.0 + row * static_cast<double>(lines.size());
  const std::vector<Point> axis{{zero, top + 8.0}, {zero, top + height}};
  figure.path(axis, {views::kMutedInk, 1.0});
}

}  // namespace

std::vector<std::optional<views::Colour>> outline_colours(const Explanation& of) {
  std::vector<std::optional<views::Colour>> colours;
  int64_t outlined = 0;
  for (const auto& part : of.parts)
    colours.push_back(part.outlines.empty() ? std::nullopt
                                            : std::optional(views::part_colour(outlined++)));
  return colours;
}

std::string evidence_words(const Explanation& of) {
  if (!of.standing)
    return "How training images compare is not known: parts were never learnt (partwise names RUN "
           "--learn).";
  if (of.by_default()) {
    return fmt::format(
        "No part speaks for {}: it scores {:.1f} below a layer that sees nothing. Other classes "
        "lack evidence.",
        of.asked, -of.evidence());
  }
  const auto share = percent_of(*of.standing);
  if (of.weak()) {
    return fmt::format(
        "Weak evidence: only {} of the training images of {} gave less. Do not trust this.",
        *of.standing < 0.005 ? "< 1 %" : share, of.asked);
  }
  return fmt::format("Evidence for {}: {:.1f}, more than {} of its training images gave.", of.asked,
                     of.evidence(), share);
}

std::string completeness_words(const Explanation& of) {
  const auto how =
      of.exact
          ? std::string("Exact Shapley values")
          : fmt::format("Shapley values from {} orders (whiskers: one standard error)", of.orders);
  return fmt::format("{} at layer {}; they add up to the evidence within {:.0e}.", how, of.layer,
                     std::max(of.completeness_error, 1e-9));
}

std::string explanation_line(const Explanation& of) {
  std::string line = fmt::format("{} {} ({} {})", of.decision, chance(of.probability), of.other,
                                 chance(of.other_probability));
  const double whole = of.evidence();
  std::string separator = ": ";
  for (std::size_t i = 0; i < std::min<std::size_t>(4, of.parts.size()); ++i) {
    const auto& part = of.parts[i];
    line += whole > 0.0
                ? fmt::format("{}{} {:+.0f} %", separator, part.label(), 100.0 * part.share / whole)
                : fmt::format("{}{} {:+.2f}", separator, part.label(), part.share);
    separator = ", ";
  }
  if (of.by_default()) {
    line += "; no part speaks for it";
  } else if (of.weak()) {
    line += "; weak evidence";
  }
  return line;
}

Figure explained_photograph(const images::Image& photo, const Explanation& of) {
  constexpr double kAround = 0.08;  // of the box's longer side
  const double around = kAround * std::max(of.box.width, of.box.height);
  const auto low = [](double edge) { return std::max<int64_t>(0, std::llround(edge)); };
  const int64_t left = low(of.box.x - around);
  const int64_t top = low(of.box.y - around);
  const images::Window window{
      left, top,
      std::min<int64_t>(photo.width, std::llround(of.box.x + of.box.width + around)) - left,
      std::min<int64_t>(photo.height, std::llround(of.box.y + of.box.height + around)) - top};
  const auto cut = images::resize_antialiased(photo, window, window.width, window.height);
  auto moved = of;
  const Point corner{static_cast<double>(left), static_cast<double>(top)};
  moved.box = {of.box.x - corner.x, of.box.y - corner.y, of.box.width, of.box.height};
  for (auto& part : moved.parts) {
    if (part.place) part.place = Point{part.place->x - corner.x, part.place->y - corner.y};
    for (auto& shape : part.outlines) {
      for (auto& point : shape) point = {point.x - corner.x, point.y - corner.y};
    }
  }
  auto place = photo_place(cut, 0.0);
  place.place.x = 0.0;
  Figure figure(place.place.width, place.place.height);
  draw_photo(figure, cut, moved, place, PartMarks::numbers);
  return figure;
}

Figure explanation_picture(const images::Image& photo,
                           const Explanation& of,
                           const std::string& title) {
  const auto lines = lines_of(of);
  const double heading = 78.0;
  const auto place = photo_place(photo, heading);
  const double row =
      std::clamp((place.place.height - 34.0) / static_cast<double>(lines.size() + 1), 24.0, 34.0);
  const double chart_height = 34.0 + row * static_cast<double>(lines.size());
  const double body = std::max(place.place.height, chart_height);
  Figure figure(3.0 * kMargin + std::max(kPhoto, place.place.width) + kChart,
                heading + body + 40.0);
  const double width = figure.width() - 2.0 * kMargin;

  const TextStyle large{22.0, true};
  const auto decision = fmt::format("{}  {}", of.decision, chance(of.probability));
  figure.text({kMargin, 32.0}, views::fitted(decision, width * 0.5, large), large);
  const auto beside =
      kMargin + views::text_width(views::fitted(decision, width * 0.5, large), large) + 14.0;
  const TextStyle muted{13.0, false, views::kMutedInk};
  figure.text({beside, 32.0},
              views::fitted(
                  fmt::format("then {} {}   ·   {}", of.other, chance(of.other_probability), title),
                  figure.width() - kMargin - beside, muted),
              muted);
  const TextStyle warning{13.0, of.weak(), of.weak() ? views::Colour{170, 30, 20} : views::kInk};
  figure.text({kMargin, 56.0}, views::fitted(evidence_words(of), width, warning), warning);

  draw_photo(figure, photo, of, place, PartMarks::names);

  const double left = 2.0 * kMargin + kPhoto;
  const double top = heading + 14.0;
  double most = 0.0;
  double least = 0.0;
  for (const auto& line : lines) {
    most = std::max({most, line.share, line.contrast});
    least = std::min({least, line.share, line.contrast});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double y = top + 10.0 + row * static_cast<double>(i);
    const TextStyle style{13.0, lines[i].outlined};
    if (lines[i].outlined)
      figure.rectangle({left, y + row / 2.0 - 7.0, 10.0, 12.0}, views::Fill(lines[i].colour));
    figure.text({left + 16.0, y + row / 2.0 + 4.0},
                views::fitted(lines[i].name, kNames - 18.0, style), style);
  }
  const double bars = left + kNames;
  const bool denied = of.asked != of.decision;
  draw_bars(figure, lines, bars, top,
            fmt::format("{} {}", denied ? "for" : "why", views::shortened(of.asked, 18)),
            &Line::share, &Line::error, row, most, least, of.evidence());
  // Held against "none of them", whose score is always 0, shares and contrasts are the same.
  const bool same = std::all_of(lines.begin(), lines.end(),
                                [](const Line& line) { return line.contrast == line.share; });
  draw_bars(figure, lines, bars + kBars + kGap, top,
            same ? "in logits" : fmt::format("and not {}", views::shortened(of.other, 18)),
            &Line::contrast, &Line::contrast_error, row, most, least, 0.0);
  const TextStyle small{11.0, false, views::kMutedInk};
  figure.text(
      {kMargin, figure.height() - 14.0},
      views::fitted(completeness_words(of) +
                        " Left: share of the evidence; right: logits. Dashed: speaks against.",
                    width, small),
      small);
  return figure;
}

}  // namespace partwise::explaining
