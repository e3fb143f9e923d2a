#include "partwise/views/glyph.h"

#include "partwise/views/chart.h"
#include "partwise/views/markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace partwise::views {

namespace {

constexpr double kLegendLine = 18.0;
constexpr double kCharacterWidth = 6.5;  // of 11 px text in a wide system font

std::string paint(bool filled) {
  return filled ? R"(fill="currentColor" stroke="currentColor" stroke-width="1.6")"
                : R"(class="hollow" fill="none" stroke="currentColor" stroke-width="1.8")";
}

std::string circle(double x, double y, double r, bool filled) {
  return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" {}/>)", x, y, r, paint(filled));
}

std::string square(double x, double y, double r, bool filled) {
  const double half = 0.88 * r;
  return fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" {}/>)", x - half,
                     y - half, 2 * half, 2 * half, paint(filled));
}

std::string triangle(double x, double y, double r, bool filled) {
  return fmt::format(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z" {}/>)", x,
                     y - 1.15 * r, x + 1.1 * r, y + 0.8 * r, x - 1.1 * r, y + 0.8 * r,
                     paint(filled));
}

std::string pentagon(double x, double y, double r, bool filled) {
  return fmt::format(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z" {}/>)",
                     x - 1.2 * r, y - 0.7 * r, x + 1.2 * r, y - 0.7 * r, x + 0.6 * r, y + 0.9 * r,
                     x - 0.6 * r, y + 0.9 * r, paint(filled));
}

std::string strokes(const std::string& path) {
  return fmt::format(R"(<path d="{}" fill="none" stroke="currentColor" stroke-width="1.5"/>)",
                     path);
}

std::string legend_sign(const LegendEntry& entry, double x, double y) {
  switch (entry.kind) {
    case LegendEntry::Kind::series:
      return fmt::format(
          R"(<g class="series series-{}"><line x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" stroke="currentColor" stroke-width="2" stroke-dasharray="{}"/>{}</g>)",
          entry.index % kSeriesStyles, x, x + 22, y, y, series_dash(entry.index),
          series_glyph(entry.index, x + 11, y, 4));
    case LegendEntry::Kind::control:
      return fmt::format(R"(<g class="control">{}</g>)",
                         control_glyph(entry.index, x + 14, y, 4.5));
    case LegendEntry::Kind::line:
      return fmt::format(
          R"(<line class="control" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" stroke="currentColor" stroke-width="1.5" stroke-dasharray="{}"/>)",
          x, x + 22, y, y, control_dash(entry.index));
  }
  return "";
}

}  // namespace

std::string series_glyph(int64_t style, double x, double y, double radius) {
  const int64_t k = style % kSeriesStyles;
  switch (k) {
    case 0:
    case 3:
      return circle(x, y, radius, k == 3);
    case 1:
    case 4:
      return square(x, y, radius, k == 4);
    case 2:
    case 5:
      return triangle(x, y, radius, k == 5);
    default:
      return pentagon(x, y, radius, k == 7);
  }
}

std::string control_glyph(int64_t index, double x, double y, double r) {
  switch (index % 5) {
    case 0:
      return strokes(fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}Z", x,
                                 y - r, r, r, -r, r, -r, -r));
    case 1:
      return strokes(fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}m0 {:.1f}l{:.1f} {:.1f}", x - 0.8 * r,
                                 y - 0.8 * r, 1.6 * r, 1.6 * r, -1.6 * r, -1.6 * r, 1.6 * r));
    case 2:
      return strokes(fmt::format("M{:.1f} {:.1f}h{:.1f}M{:.1f} {:.1f}v{:.1f}", x - r, y, 2 * r, x,
                                 y - r, 2 * r));
    case 3:
      return strokes(fmt::format("M{:.1f} {:.1f}v{:.1f}", x, y - 1.2 * r, 2.4 * r));
    default:
      return strokes(fmt::format("M{:.1f} {:.1f}h{:.1f}l{:.1f} {:.1f}h{:.1f}Z", x - 0.8 * r, y - r,
                                 1.6 * r, -1.6 * r, 2 * r, 1.6 * r));
  }
}

std::string series_dash(int64_t style) {
  static constexpr std::array<const char*, kSeriesStyles> kDashes = {
      "2 3", "7 3", "8 3 2 3", "none", "4 2", "10 4", "1 3", "12 3 3 3"};
  return kDashes.at(static_cast<std::size_t>(style % kSeriesStyles));
}

std::string control_dash(int64_t index) {
  static constexpr std::array<const char*, 3> kDashes = {"6 3", "2 3", "9 3 2 3"};
  return kDashes.at(static_cast<std::size_t>(index % 3));
}

Legend draw_legend(const std::vector<LegendEntry>& entries, double left, double top, double width) {
  Legend legend;
  double x = left;
  double y = top;
  for (const LegendEntry& entry : entries) {
    const std::string name = shortened(entry.name, 44);
    const double taken = 30.0 + kCharacterWidth * static_cast<double>(text_length(name)) + 14.0;
    if (x > left && x + taken > left + width) {
      x = left;
      y += kLegendLine;
    }
    legend.svg += legend_sign(entry, x, y + 8);
    legend.svg +=
        fmt::format(R"(<text class="muted" x="{:.1f}" y="{:.1f}" font-size="11">{}</text>)", x + 28,
                    y + 12, escape_markup(name));
    x += taken;
  }
  legend.height = entries.empty() ? 0.0 : y - top + kLegendLine;
  return legend;
}

std::string svg_document(const std::string& id,
                         const std::string& title,
                         const std::string& description,
                         double width,
                         double height,
                         const std::string& body) {
  return fmt::format(
      R"(<svg class="chart" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-labelledby="{}-title {}-desc" font-family="inherit" fill="currentColor">)"
      R"(<title id="{}-title">{}</title><desc id="{}-desc">{}</desc>{}</svg>)",
      width, height, id, id, id, escape_markup(title), id, escape_markup(description), body);
}

}  // namespace partwise::views
