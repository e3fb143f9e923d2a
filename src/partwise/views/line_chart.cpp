#include "partwise/views/axis.h"
#include "partwise/views/chart.h"
#include "partwise/views/glyph.h"
#include "partwise/views/markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::views {

namespace {

constexpr double kLeft = 48.0;
constexpr double kRight = 14.0;
constexpr double kTop = 10.0;
constexpr double kPlot = 170.0;
constexpr std::size_t kMarkers = 7;  // more would hide the line

struct Frame {
  Axis across;
  Axis up;
  double scale = 1.0;

  double x(double value) const {
    return kLeft + across.share(value) * (kChartWidth - kLeft - kRight);
  }
  double y(double value) const { return kTop + (1.0 - up.share(value * scale)) * kPlot; }
};

bool drawable(const std::optional<double>& value) {
  return value && std::isfinite(*value);
}

Frame frame_of(const LineChart& chart) {
  std::vector<double> across;
  std::vector<double> up;
  for (const LineSeries& series : chart.series) {
    for (const auto& [x, y] : series.points) {
      if (!drawable(y)) continue;
      across.push_back(x);
      up.push_back(*y * chart.axis_scale);
    }
  }
  Frame frame{axis_over(across, 6), axis_over(up), chart.axis_scale};
  if (across.empty()) return frame;
  // Time needs no room before its first and behind its last point.
  const auto [first, last] = std::minmax_element(across.begin(), across.end());
  if (*first < *last) {
    frame.across.low = *first;
    frame.across.high = *last;
  }
  return frame;
}

std::string grid(const Frame& frame, const LineChart& chart) {
  std::string svg;
  for (const double tick : frame.up.ticks) {
    const double y = frame.y(tick / chart.axis_scale);
    svg += fmt::format(
        R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" stroke="currentColor" stroke-opacity="0.13"/><text class="muted" x="{}" y="{:.1f}" font-size="11" text-anchor="end">{}</text>)",
        kLeft, kChartWidth - kRight, y, y, kLeft - 6, y + 4, frame.up.label(tick));
  }
  for (const double tick : frame.across.ticks) {
    if (tick < frame.across.low || tick > frame.across.high) continue;
    svg += fmt::format(
        R"(<text class="muted" x="{:.1f}" y="{}" font-size="11" text-anchor="middle">{}</text>)",
        frame.x(tick), kTop + kPlot + 17, frame.across.label(tick));
  }
  return svg +
         fmt::format(
             R"(<text class="muted" x="{}" y="{}" font-size="11" text-anchor="end">{}</text>)",
             kChartWidth - kRight, kTop + kPlot + 34, escape_markup(chart.x_label));
}

std::string line(const LineSeries& series, const Frame& frame) {
  std::string path;
  std::string markers;
  bool pen_down = false;
  const std::size_t step = std::max<std::size_t>(1, series.points.size() / kMarkers);
  for (std::size_t k = 0; k < series.points.size(); ++k) {
    const auto& [x, y] = series.points[k];
    if (!drawable(y)) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", frame.x(x), frame.y(*y));
    pen_down = true;
    const std::size_t left = series.points.size() - 1 - k;
    if (left == 0 || (k % step == 0 && 2 * left >= step)) {
      markers += series_glyph(series.style, frame.x(x), frame.y(*y), 3.4);
    }
  }
  return fmt::format(
      R"(<g class="series series-{}"><title>{}</title><path d="{}" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" stroke-dasharray="{}"/>{}</g>)",
      series.style % kSeriesStyles, escape_markup(series.name), path, series_dash(series.style),
      markers);
}

std::string description(const LineChart& chart) {
  std::string text;
  for (const LineSeries& series : chart.series) {
    const auto has_value = [](const auto& point) { return drawable(point.second); };
    const auto first = std::find_if(series.points.begin(), series.points.end(), has_value);
    const auto last = std::find_if(series.points.rbegin(), series.points.rend(), has_value);
    if (first == series.points.end()) continue;
    text += fmt::format("{}{}: from {:.3g} at {:g} to {:.3g} at {:g}", text.empty() ? "" : "; ",
                        series.name, *first->second * chart.axis_scale, first->first,
                        *last->second * chart.axis_scale, last->first);
  }
  return text;
}

}  // namespace

std::string line_chart_svg(const LineChart& chart) {
  const Frame frame = frame_of(chart);
  std::string body = grid(frame, chart);
  std::vector<LegendEntry> entries;
  for (const LineSeries& series : chart.series) {
    body += line(series, frame);
    entries.push_back({LegendEntry::Kind::series, series.style, series.name});
  }
  const double top = kTop + kPlot + 42;
  const Legend legend = draw_legend(entries, kLeft - 40, top, kChartWidth - kLeft + 40 - kRight);
  return svg_document(chart.id, chart.title, description(chart), kChartWidth,
                      top + legend.height + 2, body + legend.svg);
}

}  // namespace partwise::views
