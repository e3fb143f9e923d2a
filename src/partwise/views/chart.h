#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partwise::views {

constexpr double kChartWidth = 400.0;  // of every chart, in units of its SVG

// Charts as SVG text to put into a page. Every element takes its colour from `currentColor`;
// classes (series series-0 … series-7, control, grid, axis, muted) let the page's style sheet give
// it another. Nothing is told by colour alone: each series has its own marker and dash, each
// control its own sign. Title and description are read out by screen readers; all text is escaped.
// `id` must be unique in the page and made of letters, digits and hyphens.

inline constexpr int64_t kSeriesStyles = 8;

struct ControlMark {
  std::string name;
  double value = 0.0;
};

struct IntervalRow {
  std::string group;  // rows of a group stand together in the order given; "" has no heading
  std::string label;
  std::string value_text;  // printed at the end of the row
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  int64_t style = 0;  // modulo kSeriesStyles
  std::vector<ControlMark> controls;
  std::string short_text = {};  // printed instead where the chart is compact
};

// Points with intervals on one axis. A control that has the same value in every row is drawn as a
// dashed line through all of them, any other as a sign in its row. A compact chart has its labels
// beside the axis, half as high, and draws every control as a sign.
struct IntervalChart {
  std::string id;
  std::string title;
  std::string axis_label;
  double axis_scale = 1.0;  // 100 to show shares as percent
  std::vector<IntervalRow> rows;
  bool compact = false;
};

std::string interval_chart_svg(const IntervalChart& chart);

struct LineSeries {
  std::string name;
  int64_t style = 0;
  std::vector<std::pair<double, std::optional<double>>> points;  // rising x; no y leaves a gap
};

struct LineChart {
  std::string id;
  std::string title;
  std::string x_label;
  double axis_scale = 1.0;
  std::vector<LineSeries> series;
};

std::string line_chart_svg(const LineChart& chart);

}  // namespace partwise::views
