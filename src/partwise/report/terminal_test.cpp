#include "partwise/report/terminal.h"

#include <gtest/gtest.h>

#include <sstream>

namespace partwise::report {
namespace {

findings::NamedFindings named(const std::string& name, double accuracy, double low) {
  findings::RunFindings run;
  run.arm = "interpretable";
  run.findings["accuracy"] = {.value = accuracy, .low = low, .high = 0.9};
  run.layers.emplace_back().layer = "conv4";
  return {name, run};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(TerminalTable, NamesTheRunsWhereThereAreSeveral) {
  const std::vector runs{named("runs/a", 0.5, 0.4), named("runs/a longer name", 0.6, 0.00012345)};
  const auto lines = lines_of(findings_table(runs));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("run "));
  EXPECT_TRUE(lines[1].starts_with("runs/a  "));
  EXPECT_TRUE(lines[2].starts_with("runs/a longer name  "));
  EXPECT_TRUE(findings_table({runs.data(), 1}).starts_with("arm "));
}

TEST(TerminalTable, KeepsItsColumnsWhateverTheCellsHold) {
  const std::vector runs{named("a", 0.5, 0.4), named("größer", 0.000012345, 0.0000012345)};
  const auto lines = lines_of(findings_table(runs));
  const auto column = lines[0].find("purity");
  EXPECT_EQ(lines[1].substr(column - 2, 3), "  -");
  EXPECT_EQ(lines[2].substr(column, 3), "  -");  // ö and ß take a byte more each
}

TEST(TerminalTable, ObeysNothingThatACellHolds) {
  EXPECT_EQ(aligned({{"a\x1B[2J\nb", "c"}, {"d", "\xFF"}}),
            "a\\x1b[2J\\x0ab  c\n"
            "d              \\xff\n");
  auto run = named("a", 0.5, 0.4);
  run.findings.arm = "arm\nforged";
  run.findings.layers[0].layer = "conv\x1B[1A";
  run.findings.layers[0].findings["stability\nforged"] = {.value = 0.5};
  const std::vector runs{run};
  for (const auto& text : {findings_table(runs), further_lines(runs)}) {
    EXPECT_EQ(text.find('\x1B'), std::string::npos) << text;
    EXPECT_EQ(text.find("\nforged"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace partwise::report
