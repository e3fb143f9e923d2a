#include "partwise/metrics/finding.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::metrics {
namespace {

TEST(FindingJson, HasTheKeysOfTheContract) {
  const Finding finding{.value = 0.5, .low = 0.25, .high = 0.75, .controls = {{"chance", 0.125}}};
  EXPECT_EQ(to_json(finding).dump(),
            R"({"controls":{"chance":0.125},"high":0.75,"low":0.25,"value":0.5})");
}

TEST(FindingJson, ComesBackUnchanged) {
  const Finding finding{.value = 0.1, .low = -1.0, .high = 2.0, .controls = {{"a", 1e-9}}};
  const auto back = finding_from_json(nlohmann::json::parse(to_json(finding).dump()));
  EXPECT_EQ(back.value, finding.value);
  EXPECT_EQ(back.low, finding.low);
  EXPECT_EQ(back.high, finding.high);
  EXPECT_EQ(back.controls, finding.controls);
}

TEST(FindingJson, WritesWhatDoesNotExistAsNull) {
  const Finding finding{.value = std::nan(""), .low = 0, .high = 1, .controls = {{"a", NAN}}};
  const auto json = to_json(finding);
  EXPECT_TRUE(json["value"].is_null());
  EXPECT_TRUE(json["controls"]["a"].is_null());
  const auto back = finding_from_json(json);
  EXPECT_TRUE(std::isnan(back.value));
  EXPECT_TRUE(std::isnan(back.controls.at("a")));
}

TEST(FindingJson, NamesWhatIsMissingOrWrong) {
  const auto message = [](const char* text) {
    try {
      finding_from_json(nlohmann::json::parse(text));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(R"({"value": 1, "high": 2})").find("'low'"), std::string::npos);
  EXPECT_NE(message(R"({"value": "x", "low": 1, "high": 2})").find("value"), std::string::npos);
  EXPECT_NE(message("[]").find("object"), std::string::npos);
}

}  // namespace
}  // namespace partwise::metrics
