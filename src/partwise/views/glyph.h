#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace partwise::views {

// The marker of a series (0-7: circle, square, triangle, disc, …), centred on x, y.
std::string series_glyph(int64_t style, double x, double y, double radius);

// The sign of a control (0-4: diamond, cross, plus, upright bar, hourglass).
std::string control_glyph(int64_t index, double x, double y, double radius);

// stroke-dasharray of a series' line; "none" for a solid one.
std::string series_dash(int64_t style);

// The same for a control's line.
std::string control_dash(int64_t index);

struct LegendEntry {
  enum class Kind { series, control, line } kind = Kind::series;
  int64_t index = 0;
  std::string name;
};

struct Legend {
  std::string svg;
  double height = 0.0;
};

// Entries in as many lines as `width` needs, the first one at y = top.
Legend draw_legend(const std::vector<LegendEntry>& entries, double left, double top, double width);

// <svg …> with title and description; `body` is markup already.
std::string svg_document(const std::string& id,
                         const std::string& title,
                         const std::string& description,
                         double width,
                         double height,
                         const std::string& body);

}  // namespace partwise::views
