#include "partwise/report/findings.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

namespace partwise::report {
namespace {

using nlohmann::json;

json minimal() {
  return json::parse(R"({"format": 1, "net": "tiny", "arm": "masked", "rows": 3,
    "accuracy": {"value": 0.9, "low": 0.8, "high": 1.0, "controls": {"chance": 0.5}},
    "layers": [{"layer": "conv4", "role": "new layer",
                "purity": {"value": null, "low": null, "high": null, "controls": {}},
                "cards": [{"filter": 3, "ratio": null}]}]})");
}

std::string complaint(const json& findings) {
  try {
    findings_from_json(findings, "runs/a/findings.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Findings, AreReadWithWhateverIsOptionalLeftOut) {
  const auto run = findings_from_json(minimal(), "x");
  EXPECT_EQ(run.arm, "masked");
  EXPECT_EQ(run.measures.at("accuracy").controls.at("chance"), 0.5);
  ASSERT_EQ(run.layers.size(), 1U);
  EXPECT_FALSE(run.layers[0].measures.at("purity").value.has_value());
  EXPECT_EQ(run.layers[0].cards[0].filter, 3);
  EXPECT_EQ(find_layer(run, kNewLayer), run.layers.data());
  EXPECT_EQ(find_layer(run, kTopLayer), nullptr);
  EXPECT_EQ(find_measure(run.measures, "balanced_accuracy"), nullptr);
}

TEST(Findings, TakeMeasuresTheyHaveNoWordsFor) {
  auto found = minimal();
  found["layers"][0]["single_filter_accuracy"] = {{"value", 0.7}, {"low", 0.6}, {"high", 0.8}};
  EXPECT_EQ(findings_from_json(found, "x").layers[0].measures.at("single_filter_accuracy").value,
            0.7);
}

TEST(Findings, ThatAreMalformedAreRefusedWithTheFieldNamed) {
  const auto broken = [](const std::string& pointer, const json& value) {
    auto found = minimal();
    found[nlohmann::json::json_pointer(pointer)] = value;
    return complaint(found);
  };
  const auto expect = [](const std::string& message, const std::string& field) {
    EXPECT_EQ(message.rfind("runs/a/findings.json: ", 0), 0U) << message;
    EXPECT_NE(message.find(field), std::string::npos) << message;
    EXPECT_NE(message.find("partwise measure RUN"), std::string::npos) << message;
  };
  expect(broken("/format", 2), "format 2");
  expect(broken("/arm", 7), "arm");
  expect(broken("/accuracy", "high"), "accuracy");
  expect(broken("/accuracy/value", "0.9"), "accuracy.value");
  expect(broken("/accuracy/low", 2.0), "accuracy.low");
  expect(broken("/accuracy/controls", json::array({1})), "accuracy.controls");
  expect(broken("/accuracy/controls/chance", "half"), "accuracy.controls.chance");
  expect(broken("/rows", -1), "rows");
  expect(broken("/rows", 1.5), "rows");
  expect(broken("/layers", json::object()), "layers");
  expect(broken("/layers/0", 5), "layers[0]");
  expect(broken("/layers/0/purity", 0.5), "layers[0].purity");
  expect(broken("/layers/0/cards/0/filter", "three"), "layers[0].cards[0].filter");
  expect(broken("/layers/0/cards/0", nullptr), "layers[0].cards[0]");
  expect(broken("/categories", json::array({1})), "categories");
  expect(broken("/confusion", json::array({json::array({1, 2})})), "confusion");
  expect(complaint(json::array()), "the whole");
  expect(complaint(json::object()), "format (missing)");
}

TEST(Findings, WithoutAccuracyAreIncomplete) {
  auto found = minimal();
  found.erase("accuracy");
  EXPECT_NE(complaint(found).find("accuracy is missing"), std::string::npos);
}

}  // namespace
}  // namespace partwise::report
