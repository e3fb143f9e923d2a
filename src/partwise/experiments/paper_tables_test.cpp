#include "partwise/experiments/paper_tables.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <set>

namespace partwise::experiments {
namespace {

TEST(PaperTables, HaveNamesOfTheirOwnAndAFigureForEveryColumn) {
  std::set<std::string> names;
  for (const auto& table : paper_tables()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.nets.empty()) << table.name;
    EXPECT_GE(table.arms.size(), 2U) << table.name;
    EXPECT_EQ(table.binary, !table.categories.empty()) << table.name;
    for (const auto& figure : table.figures) EXPECT_GT(figure.value, 0.0) << table.name;
  }
  EXPECT_EQ(names.size(), 19U);
}

// Every figure is rounded to three places, and so is the mean the paper prints of them. In one
// table five of its six means are not those of its figures.
TEST(PaperTables, PrintMeansThatAreTheMeansOfTheirFigures) {
  int means = 0;
  for (const auto& table : paper_tables()) {
    for (const auto& mean : table.figures) {
      if (!table.binary || !mean.column.category.empty()) continue;
      double sum = 0.0;
      int count = 0;
      for (const auto& category : table.categories) {
        const auto figure =
            figure_of(table, mean.net, mean.arm, {mean.column.loss, category, mean.column.metric});
        if (!figure) continue;
        sum += *figure;
        ++count;
      }
      if (count == 0) continue;  // the table has nothing but the mean
      ++means;
      EXPECT_EQ(count, std::ssize(table.categories)) << table.name;
      const double tolerance = table.name == "animal-part-purity" ? 0.0065 : 0.0011;
      EXPECT_NEAR(mean.value, sum / count, tolerance) << table.name << mean.net << mean.arm;
    }
  }
  EXPECT_EQ(means, 12 + 16 + 3 + 3 + 8 + 6 + 6);
}

TEST(PaperTables, HoldFiguresWhereThePaperHasThem) {
  const auto& instability = find_table("animal-part-instability");
  const std::string key = "location_instability";
  EXPECT_EQ(figure_of(instability, "vgg-16", "interpretable", {"logistic", "fox", key}), 0.069);
  EXPECT_EQ(figure_of(instability, "vgg-s", "ordinary", {"logistic", "giant panda", key}), 0.125);
  EXPECT_EQ(figure_of(instability, "tiny", "ordinary", {"logistic", "fox", key}), std::nullopt);
  EXPECT_DOUBLE_EQ(*figure_of(find_table("voc-multi-accuracy"), "vgg-s", "interpretable",
                              {"softmax", "", "accuracy"}),
                   0.8613);
  EXPECT_EQ(find_table("animal-part-multi-instability").nets,
            (std::vector<std::string>{"vgg-m", "vgg-s"}));
}

TEST(PaperTables, WithAnUnknownNameAreListed) {
  try {
    find_table("voc-prity");
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("did you mean 'voc-purity'"), std::string::npos) << text;
    EXPECT_NE(text.find(", cub200-adversarial"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace partwise::experiments
