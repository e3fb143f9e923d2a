#include "partwise/report/exported_tables.h"

#include <gtest/gtest.h>

#include <limits>

namespace partwise::report {
namespace {

std::vector<findings::NamedFindings> two_runs() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  findings::RunFindings run;
  run.net = "tiny";
  run.arm = "ordinary";
  run.task = "multi";
  run.split = "all";
  run.rows = 40;
  run.training_images = 30;
  run.findings["accuracy"] = {0.9, 0.8, 1.0, {{"chance", 0.5}}};
  findings::LayerFindings layer;
  layer.layer = "conv_4";
  layer.findings["purity"] = {0.25, 0.125, 0.5, {{"uniform_map", 0.1}}};
  layer.findings["patch_purity"] = {kNone, kNone, kNone};
  run.layers = {layer};
  auto other = run;
  other.layers[0].findings.erase("patch_purity");
  return {{"runs/a|b", run}, {"runs/c,d", other}};
}

TEST(FindingsCsv, HasALinePerNumberControlsIncluded) {
  const auto csv = findings_csv(two_runs());
  EXPECT_NE(
      csv.find("\nruns/a|b,tiny,ordinary,multi,all,40,30,conv_4,purity,measured,0.25,0.125,0.5\n"),
      std::string::npos)
      << csv;
  EXPECT_NE(csv.find("conv_4,purity,uniform_map,0.1,,\n"), std::string::npos);
  EXPECT_NE(csv.find("conv_4,patch_purity,measured,,,\n"), std::string::npos);
  EXPECT_NE(csv.find("\n\"runs/c,d\",tiny"), std::string::npos);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 5 + 4);
}

TEST(FindingsCsv, BeginsNoFormula) {
  auto runs = two_runs();
  runs[0].name = "=HYPERLINK(\"x\")";
  EXPECT_NE(findings_csv(runs).find("\n\"'=HYPERLINK(\"\"x\"\")\",tiny"), std::string::npos);
}

TEST(FindingsMarkdown, IsATableInTheCataloguesOrderThatNamesTrainingImages) {
  const auto text = findings_markdown(two_runs());
  EXPECT_LT(text.find("| accuracy |"), text.find("| purity |"));
  EXPECT_LT(text.find("| purity |"), text.find("| patch_purity |"));
  EXPECT_NE(text.find("| metric | runs/a\\|b, conv_4 | runs/c,d, conv_4 |\n|---|---|---|\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| purity | 0.250 [0.125, 0.500] | 0.250 [0.125, 0.500] |\n"),
            std::string::npos);
  EXPECT_NE(text.find("| patch_purity | – | |\n"), std::string::npos);
  EXPECT_NE(text.find("30 of them training images"), std::string::npos);
}

TEST(FindingsLatex, EscapesNamesAndEndsEveryLine) {
  const auto text = findings_latex(two_runs());
  EXPECT_NE(text.find("\\begin{tabular}{lcc}"), std::string::npos);
  EXPECT_NE(text.find("metric & conv\\_4 & conv\\_4 \\\\\n"), std::string::npos) << text;
  EXPECT_NE(text.find("patch\\_purity & -- & \\\\\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("–"), std::string::npos);
}

TEST(ExportedTables, LetNoNameLeaveItsLineOrBeginATag) {
  auto runs = two_runs();
  runs[0].name = "a\nb<script>";
  const auto latex = findings_latex(runs);
  EXPECT_EQ(latex.find("\nb<script>"), std::string::npos) << latex;
  const auto markdown = findings_markdown(runs);
  EXPECT_EQ(markdown.find("<script"), std::string::npos) << markdown;
  EXPECT_EQ(markdown.find("\nb"), std::string::npos) << markdown;
}

}  // namespace
}  // namespace partwise::report
