#include "partwise/views/axis.h"
#include "partwise/views/chart.h"
#include "partwise/views/glyph.h"
#include "partwise/views/markup.h"

#include <fmt/format.h>

#include <algorithm>

namespace partwise::views {

namespace {

constexpr double kMargin = 8.0;
constexpr double kHeading = 24.0;
constexpr double kRow = 44.0;
constexpr double kCompactRow = 17.0;
constexpr double kCompactLabels = 108.0;
constexpr double kCompactValues = 52.0;

struct Control {
  std::string name;
  bool shared = false;  // one value for all rows
  double value = 0.0;
};

std::vector<Control> controls_of(const IntervalChart& chart) {
  std::vector<Control> controls;
  const auto find = [&](const std::string& name) {
    return std::find_if(controls.begin(), controls.end(),
                        [&](const Control& control) { return control.name == name; });
  };
  for (const IntervalRow& row : chart.rows) {
    for (const ControlMark& mark : row.controls) {
      if (find(mark.name) == controls.end()) controls.push_back({mark.name, true, mark.value});
    }
  }
  for (Control& control : controls) {
    control.shared = !chart.compact &&
                     std::all_of(chart.rows.begin(), chart.rows.end(), [&](const IntervalRow& row) {
                       return std::any_of(
                           row.controls.begin(), row.controls.end(), [&](const ControlMark& mark) {
                             return mark.name == control.name && mark.value == control.value;
                           });
                     });
  }
  return controls;
}

Axis axis_of(const IntervalChart& chart) {
  std::vector<double> values;
  for (const IntervalRow& row : chart.rows) {
    for (const auto& value : {row.value, row.low, row.high}) {
      if (value) values.push_back(*value * chart.axis_scale);
    }
    for (const ControlMark& mark : row.controls) values.push_back(mark.value * chart.axis_scale);
  }
  return axis_over(values);
}

// Draws one chart from top to bottom; what has to be kept consistent is the running height.
class Drawing {
 public:
  explicit Drawing(const IntervalChart& chart)
      : chart_(chart), controls_(controls_of(chart)), axis_(axis_of(chart)) {}

  std::string svg() {
    std::string rows;
    std::string group;
    for (const IntervalRow& row : chart_.rows) {
      if (row.group != group) rows += heading(row.group);
      group = row.group;
      rows += data_row(row);
    }
    std::string body = lines() + rows;
    body += scale();  // each takes its place below the one before
    body += legend();
    return svg_document(chart_.id, chart_.title, description(), kChartWidth, y_ + 2, body);
  }

 private:
  double x(double value) const {
    const double share = axis_.share(value * chart_.axis_scale);
    return left() + std::clamp(share, 0.0, 1.0) * (right() - left());
  }
  double left() const { return chart_.compact ? kCompactLabels : kMargin; }
  double right() const { return kChartWidth - (chart_.compact ? kCompactValues : kMargin); }
  // Where rows are close, a cross over a marker leaves it to be seen; a diamond would not.
  int64_t sign_of(int64_t control) const { return control + (chart_.compact ? 1 : 0); }
  double row_height() const { return chart_.compact ? kCompactRow : kRow; }

  std::string heading(const std::string& group) {
    y_ += kHeading;
    return fmt::format(
        R"(<text class="muted heading" x="{}" y="{:.1f}" font-size="11" font-weight="600">{}</text>)",
        kMargin, y_ - 7, escape_markup(shortened(group, 60)));
  }

  std::string data_row(const IntervalRow& row) {
    const double text = y_ + 13;
    const double track = y_ + (chart_.compact ? 9 : 26);
    const double size = chart_.compact ? 11 : 12;
    const auto& value = chart_.compact ? row.short_text : row.value_text;
    y_ += row_height();
    std::string svg = fmt::format(
        R"(<g class="series series-{}"><title>{}: {}</title><text class="ink" x="{}" y="{:.1f}" font-size="{}">{}</text><text class="ink" x="{:.1f}" y="{:.1f}" font-size="{}" text-anchor="end">{}</text><line class="grid" x1="{}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" stroke="currentColor" stroke-opacity="0.15"/>)",
        row.style % kSeriesStyles, escape_markup(row.label), escape_markup(row.value_text), kMargin,
        text, size, escape_markup(shortened(row.label, chart_.compact ? 16 : 32)),
        kChartWidth - kMargin, text, size, escape_markup(value), left(), right(), track, track);
    if (row.low && row.high) {
      svg += fmt::format(
          R"(<path d="M{:.1f} {:.1f}H{:.1f}M{:.1f} {:.1f}v10M{:.1f} {:.1f}v10" fill="none" stroke="currentColor" stroke-width="2"/>)",
          x(*row.low), track, x(*row.high), x(*row.low), track - 5, x(*row.high), track - 5);
    }
    if (row.value) svg += series_glyph(row.style, x(*row.value), track, chart_.compact ? 4 : 5);
    return svg + "</g>" + row_controls(row, track);
  }

  // Shared controls run through all rows, but not through their text.
  std::string row_controls(const IntervalRow& row, double track) const {
    std::string svg;
    for (std::size_t k = 0; k < controls_.size(); ++k) {
      for (const ControlMark& mark : row.controls) {
        if (mark.name != controls_[k].name) continue;
        const auto index = static_cast<int64_t>(k);
        const std::string sign =
            controls_[k].shared
                ? fmt::format(
                      R"(<path d="M{:.1f} {:.1f}v26" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="{}"/>)",
                      x(mark.value), track - 8, control_dash(index))
                : control_glyph(sign_of(index), x(mark.value), track, 5);
        svg += fmt::format(R"(<g class="control"><title>{}: {:.3f}</title>{}</g>)",
                           escape_markup(mark.name), mark.value * chart_.axis_scale, sign);
      }
    }
    return svg;
  }

  // Drawn first, under the rows, over the height the rows will take.
  std::string lines() const {
    double bottom = 0.0;
    std::string group;
    for (const IntervalRow& row : chart_.rows) {
      if (row.group != group) bottom += kHeading;
      group = row.group;
      bottom += row_height();
    }
    std::string svg;
    for (const double tick : axis_.ticks) {
      svg += fmt::format(
          R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="2" y2="{:.1f}" stroke="currentColor" stroke-opacity="0.12"/>)",
          x(tick / chart_.axis_scale), x(tick / chart_.axis_scale), bottom);
    }
    return svg;
  }

  std::string scale() {
    std::string svg;
    for (const double tick : axis_.ticks) {
      const double place = x(tick / chart_.axis_scale);
      const char* anchor = chart_.compact        ? "middle"
                           : place < left() + 1  ? "start"
                           : place > right() - 1 ? "end"
                                                 : "middle";
      svg += fmt::format(
          R"(<text class="muted" x="{:.1f}" y="{:.1f}" font-size="11" text-anchor="{}">{}</text>)",
          place, y_ + 13, anchor, axis_.label(tick));
    }
    if (chart_.compact) {
      y_ += 26;
      return svg;
    }
    svg += fmt::format(R"(<text class="muted" x="{}" y="{:.1f}" font-size="11">{}</text>)", kMargin,
                       y_ + 30, escape_markup(chart_.axis_label));
    y_ += 40;
    return svg;
  }

  std::string legend() {
    std::vector<LegendEntry> entries;
    for (std::size_t k = 0; k < controls_.size(); ++k) {
      const auto kind = controls_[k].shared ? LegendEntry::Kind::line : LegendEntry::Kind::control;
      const auto index = static_cast<int64_t>(k);
      entries.push_back(
          {kind, controls_[k].shared ? index : sign_of(index), "control: " + controls_[k].name});
    }
    const Legend drawn = draw_legend(entries, kMargin, y_, kChartWidth - 2 * kMargin);
    y_ += drawn.height;
    return drawn.svg;
  }

  std::string description() const {
    std::string text;
    for (const IntervalRow& row : chart_.rows) {
      text += fmt::format("{}{}{}: {}", text.empty() ? "" : "; ",
                          row.group.empty() ? "" : row.group + ", ", row.label, row.value_text);
      for (const ControlMark& mark : row.controls) {
        text += fmt::format(", control {} {:.3f}", mark.name, mark.value * chart_.axis_scale);
      }
    }
    return text;
  }

  const IntervalChart& chart_;
  std::vector<Control> controls_;
  Axis axis_;
  double y_ = 2.0;
};

}  // namespace

std::string interval_chart_svg(const IntervalChart& chart) {
  return Drawing(chart).svg();
}

}  // namespace partwise::views
