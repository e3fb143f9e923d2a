#include "partwise/views/chart.h"

#include <gtest/gtest.h>

namespace partwise::views {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int64_t count(const std::string& text, const std::string& part) {
  int64_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

IntervalChart purity_chart() {
  IntervalChart chart{"purity", "Purity", "share of activation", 1.0, {}};
  chart.rows.push_back({"conv4", "ordinary", "0.41", 0.41, 0.38, 0.44, 0, {{"uniform", 0.13}}});
  chart.rows.push_back({"conv4", "masked", "0.45", 0.45, 0.42, 0.48, 2, {{"uniform", 0.13}}});
  return chart;
}

TEST(IntervalChart, ReadsOutEveryNumberAndControl) {
  const auto svg = interval_chart_svg(purity_chart());
  EXPECT_TRUE(contains(svg, R"(role="img" aria-labelledby="purity-title purity-desc")"));
  EXPECT_TRUE(contains(svg, "conv4, ordinary: 0.41, control uniform 0.130; conv4, masked: 0.45"));
}

TEST(IntervalChart, DrawsASharedControlAsALineAndOthersAsSigns) {
  auto chart = purity_chart();
  EXPECT_EQ(count(interval_chart_svg(chart), "v26\""), 2);  // a piece in each row
  chart.rows[1].controls[0].value = 0.14;
  const auto svg = interval_chart_svg(chart);
  EXPECT_EQ(count(svg, "v26\""), 0);
  EXPECT_EQ(count(svg, "<g class=\"control\"><title>uniform"), 2);
}

TEST(IntervalChart, IsHalfAsHighWhereItIsCompactAndSaysNoLess) {
  auto chart = purity_chart();
  const auto height = [](const std::string& svg) {
    const std::string box = "viewBox=\"0 0 400 ";
    return std::stod(svg.substr(svg.find(box) + box.size()));
  };
  const double whole = height(interval_chart_svg(chart));
  chart.compact = true;
  for (auto& row : chart.rows) row.short_text = "short";
  const auto svg = interval_chart_svg(chart);
  EXPECT_LT(height(svg), 0.65 * whole);  // heading, axis and legend stay
  EXPECT_TRUE(contains(svg, "conv4, ordinary: 0.41, control uniform 0.130"));
  EXPECT_TRUE(contains(svg, ">short</text>"));
  EXPECT_EQ(count(svg, "v26\""), 0);
}

TEST(IntervalChart, TellsSeriesApartByMarker) {
  const auto svg = interval_chart_svg(purity_chart());
  EXPECT_TRUE(contains(svg, "<circle"));
  EXPECT_TRUE(contains(svg, "series-2"));
  EXPECT_FALSE(contains(svg, "style="));
}

TEST(IntervalChart, SurvivesRowsWithoutNumbers) {
  IntervalChart chart{"x", "t", "a", 1.0, {{"", "ordinary", "–", {}, {}, {}, 0, {}}}};
  EXPECT_TRUE(contains(interval_chart_svg(chart), "–"));
  chart.rows.clear();
  EXPECT_TRUE(contains(interval_chart_svg(chart), "</svg>"));
}

TEST(Charts, EscapeEveryText) {
  const std::string hostile = "<script>alert(1)</script>";
  IntervalChart intervals{"x", hostile, hostile, 1.0, {}};
  intervals.rows.push_back({hostile, hostile, hostile, 0.1, 0.0, 0.2, 0, {{hostile, 0.3}}});
  LineChart lines{"y", hostile, hostile, 1.0, {{hostile, 0, {{1.0, 0.5}, {2.0, 0.6}}}}};
  EXPECT_FALSE(contains(interval_chart_svg(intervals) + line_chart_svg(lines), "<script"));
}

TEST(LineChart, LeavesAGapWhereAValueIsMissing) {
  const LineChart chart{
      "loss", "Loss", "epoch", 1.0, {{"a", 0, {{1, 3.0}, {2, std::nullopt}, {3, 1.0}, {4, 0.5}}}}};
  const auto svg = line_chart_svg(chart);
  const auto start = svg.find("<path d=\"M");
  const auto path = svg.substr(start, svg.find("fill", start) - start);
  EXPECT_EQ(count(path, "M"), 2);
  EXPECT_EQ(count(path, "L"), 1);
  EXPECT_TRUE(contains(svg, "a: from 3 at 1 to 0.5 at 4"));
}

TEST(LineChart, GivesEverySeriesItsOwnDash) {
  const LineChart chart{"loss",
                        "Loss",
                        "epoch",
                        1.0,
                        {{"a", 0, {{1, 3.0}, {2, 2.0}}}, {"b", 1, {{1, 2.0}, {2, 1.0}}}}};
  const auto svg = line_chart_svg(chart);
  EXPECT_TRUE(contains(svg, "stroke-dasharray=\"2 3\""));
  EXPECT_TRUE(contains(svg, "stroke-dasharray=\"7 3\""));
}

TEST(LineChart, SurvivesOnePointAndNone) {
  EXPECT_TRUE(contains(line_chart_svg({"x", "t", "e", 1.0, {{"a", 0, {{1, 3.0}}}}}), "</svg>"));
  EXPECT_TRUE(contains(line_chart_svg({"x", "t", "e", 1.0, {}}), "</svg>"));
  EXPECT_TRUE(contains(line_chart_svg({"x", "t", "e", 1.0, {{"a", 0, {}}}}), "</svg>"));
}

}  // namespace
}  // namespace partwise::views
