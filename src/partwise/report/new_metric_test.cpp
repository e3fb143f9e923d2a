// "A new metric is one file and one row": the row is added here, and everything shows it.
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/findings/findings_file.h"
#include "partwise/findings/run_comparison.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/metrics/filter_mean.h"
#include "partwise/report/exported_tables.h"
#include "partwise/report/report.h"
#include "partwise/report/terminal.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace partwise::report {
namespace {

// The share of a filter's rows that peak in the upper half of the map.
void peaks_above(const metrics::LayerExam& of, metrics::LayerMeasures& found) {
  const auto& maps = of.summaries;
  const auto of_filter = [&](int64_t filter, std::span<const int32_t> counts) {
    double above = 0.0;
    for (int64_t row = 0; row < maps.rows; ++row)
      above += counts[row] * (maps.cells_of(filter)[row] < maps.side * maps.side / 2 ? 1.0 : 0.0);
    return above / static_cast<double>(maps.rows);
  };
  auto mean = metrics::mean_over_filters(maps.rows, maps.filters, of.options.bootstrap, of_filter);
  mean.finding.controls["a_coin"] = 0.5;
  found.findings["peaks_above"] = std::move(mean.finding);
}

const metrics::Metric kRow{
    "peaks_above",
    false,
    metrics::Needs::maps,
    "Height",
    "Do filters look up?",
    {{"peaks_above", "Peaks in the upper half", metrics::Better::neither, true,
      "share of images, %", "How often a filter fires high up.", "A coin.", "Anything else."}},
    peaks_above,
    nullptr};

// Four rows, three filters, 2 x 2 cells; filter f of the net fires above in the first f + `more`
// rows.
findings::RunFindings measured(const std::string& arm, int64_t more) {
  std::vector<float> values(4 * 3 * 4);
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t f = 0; f < 3; ++f)
      values[static_cast<std::size_t>((row * 3 + f) * 4 + (row < f + more ? 0 : 3))] = 1.0F;
  }
  const metrics::MapSource maps = metrics::source_of({values, 4, 3, 2});
  const metrics::UnitGrid grid{.offset = 1.0, .stride = 2.0, .input_side = 4};
  metrics::Truth truth;
  truth.input_side = 4;
  truth.categories = {{"fox", {}, {}}};
  truth.rows.assign(4, {0, {}, {}});
  const std::vector<int64_t> filter_category(3, 0);
  metrics::LayerOptions options;
  options.extras = metrics::options_named("peaks_above", false, false);
  options.bootstrap.resamples = 40;
  const metrics::Exam exam{truth, filter_category, {}, {}, {}};
  findings::RunFindings run;
  run.net = "tiny";
  run.arm = arm;
  run.data_hash = "abc";
  run.rows = 4;
  run.findings["accuracy"] = {.value = 0.9, .low = 0.8, .high = 1.0};
  run.layers.resize(1);
  run.layers[0].layer = "conv4";
  run.layers[0].role = findings::kTopLayer;
  run.layers[0].findings =
      metrics::measure_layer({"conv4", grid, grid, maps, maps}, exam, options).findings;
  return run;
}

TEST(ANewMetric, IsOneRowAndIsSeenEverywhere) {
  metrics::add_metric(kRow);
  const std::vector<findings::NamedFindings> named{{"a", measured("ordinary", 1)},
                                                   {"b", measured("masked", 2)}};
  const std::vector<findings::RunFindings> runs{named[0].findings, named[1].findings};
  ASSERT_EQ(runs[0].layers[0].findings.at("peaks_above").value, 0.5);
  const auto sees = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text.substr(0, 2000);
  };
  sees(further_lines(named), "peaks_above");
  sees(further_lines(named), "a_coin 0.500");
  sees(findings_csv(named), "conv4,peaks_above,measured,0.5,");
  sees(findings_markdown(named), "| peaks_above | 0.500 [");
  sees(findings_latex(named), "peaks\\_above & 0.500 [");
  const auto numbers = findings::compare_runs(named[0], named[1], {});
  const auto compared = std::find_if(numbers.begin(), numbers.end(), [](const auto& number) {
    return number.key == "peaks_above";
  });
  ASSERT_NE(compared, numbers.end());
  EXPECT_EQ(compared->comparison.difference, 0.25);
  EXPECT_TRUE(compared->comparison.paired);
  sees(comparison_table(numbers), "peaks_above");

  const auto folder = std::filesystem::path(testing::TempDir()) / "partwise-new-metric-test";
  std::vector<runs::RunFolder> folders;
  for (const auto& [name, found] : named) {
    folders.push_back(runs::RunFolder::create(folder / name, {{"seed", 1}}, {{"commit", "1"}}));
    findings::write_findings(folders.back(), found);
  }
  const auto html = render_report(folders, nlohmann::json::object());
  remove_folder(folder);
  sees(html, "Do filters look up?");
  sees(html, "Peaks in the upper half");
}

}  // namespace
}  // namespace partwise::report
