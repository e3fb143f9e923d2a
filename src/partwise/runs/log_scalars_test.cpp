#include "partwise/runs/log_scalars.h"

#include <gtest/gtest.h>

namespace partwise::runs {
namespace {

using nlohmann::json;

const json kRow = json::parse(R"({"epoch": 1, "loss": 0.1, "layers": [
    {"layer": "conv4", "loss": -2, "filters_per_category": [3, 5]}],
    "validation": {"accuracy": 0.5, "layers": [{"layer": "conv4", "purity": null}]}})");

TEST(LogScalars, AreNamedByTheirPlace) {
  std::vector<std::string> seen;
  for (const auto& [name, value] : scalars_of(kRow)) seen.push_back(name);
  EXPECT_EQ(seen, (std::vector<std::string>{"epoch", "conv4/filters_per_category.0",
                                            "conv4/filters_per_category.1", "conv4/loss", "loss",
                                            "validation/accuracy"}));
}

TEST(LogScalars, ColumnsStayWhereTheyAreWhenLaterRowsBringMore) {
  auto later = kRow;
  later["epoch"] = 2;
  later["loss"] = 0.30000000000000004;
  later["validation"]["layers"][0]["purity"] = 0.75;
  const auto one = log_csv({kRow});
  const auto two = log_csv({kRow, later});
  EXPECT_EQ(one,
            "epoch,conv4/filters_per_category.0,conv4/filters_per_category.1,conv4/loss,loss,"
            "validation/accuracy\n1,3,5,-2,0.1,0.5\n");
  EXPECT_EQ(two,
            "epoch,conv4/filters_per_category.0,conv4/filters_per_category.1,conv4/loss,loss,"
            "validation/accuracy,validation/conv4/purity\n"
            "1,3,5,-2,0.1,0.5,\n2,3,5,-2,0.30000000000000004,0.5,0.75\n");
  EXPECT_EQ(log_csv({}), "epoch\n");
}

}  // namespace
}  // namespace partwise::runs
