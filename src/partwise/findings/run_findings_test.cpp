#include "partwise/findings/run_findings.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/findings/findings_file.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

namespace partwise::findings {
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
  EXPECT_FALSE(run.moment.has_value());  // an older program's
  EXPECT_EQ(run.findings.at("accuracy").controls.at("chance"), 0.5);
  ASSERT_EQ(run.layers.size(), 1U);
  EXPECT_TRUE(std::isnan(run.layers[0].findings.at("purity").value));
  EXPECT_EQ(run.layers[0].cards[0].filter, 3);
  EXPECT_EQ(find_layer(run, kNewLayer), run.layers.data());
  EXPECT_EQ(find_layer(run, kTopLayer), nullptr);
  EXPECT_EQ(find_finding(run, "", "balanced_accuracy"), nullptr);
  EXPECT_NE(find_finding(run, kNewLayer, "purity"), nullptr);
  EXPECT_EQ(find_finding(run, kTopLayer, "purity"), nullptr);
}

TEST(Findings, TakeMeasuresTheyHaveNoWordsFor) {
  auto found = minimal();
  found["layers"][0]["single_filter_accuracy"] = {{"value", 0.7}, {"low", 0.6}, {"high", 0.8}};
  found["layers"][0]["of_tomorrow"] = {{"value", 1}, {"low", 0}, {"high", 2}, {"unique", 3}};
  const auto layer = findings_from_json(found, "x").layers[0];
  EXPECT_EQ(layer.findings.at("single_filter_accuracy").value, 0.7);
  EXPECT_EQ(layer.findings.at("of_tomorrow").facts.at("unique"), 3);
}

TEST(Findings, ThatAreMalformedAreRefusedInOneShortLineWhateverTheyHold) {
  auto found = minimal();
  found["a\npartwise: all is well \x1B[2J" + std::string(100'000, 'x')] = {{"value", "much"}};
  const auto of_the_network = complaint(found);
  found = minimal();
  found["layers"][0]["b\nc" + std::string(5'000, 'y')] = {{"value", "much"}};
  for (const auto& said : {of_the_network, complaint(found)}) {
    EXPECT_EQ(said.find_first_of("\n\x1B"), std::string::npos);
    EXPECT_TRUE(said.starts_with("runs/a/findings.json: ")) << said;
    EXPECT_LT(said.size(), 700U);
  }
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
  expect(broken("/epoch", "two"), "epoch");
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

TEST(Findings, AreWrittenAsTheyWereRead) {
  auto found = minimal();
  found["accuracy"]["unique"] = 3;
  found["layers"][0]["part_label_iou"] = {
      {"value", 0.3},     {"low", 0.2},
      {"high", 0.4},      {"controls", json::object()},
      {"layer", "conv4"}, {"share_of_filters", {{"fox", {{"head", 0.75}, {"tail", nullptr}}}}}};
  found.update({{"epoch", 2}, {"step", 17}, {"images_hash", "abc"}});
  const auto run = findings_from_json(found, "x");
  EXPECT_EQ(run.moment, (runs::TrainingMoment{2, 17}));
  const auto shares = part_shares(run.layers[0].findings.at("part_label_iou"));
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].second[0], (std::pair<std::string, double>("head", 0.75)));
  EXPECT_TRUE(std::isnan(shares[0].second[1].second));
  const auto written = to_json(run);
  for (const char* key : {"accuracy", "epoch", "step", "images_hash"})
    EXPECT_EQ(written.at(key), found.at(key)) << key;
  EXPECT_EQ(written.at("layers")[0].at("part_label_iou"), found["layers"][0]["part_label_iou"]);
  EXPECT_TRUE(written.at("layers")[0].at("purity").at("value").is_null());
  EXPECT_EQ(to_json(findings_from_json(written, "x")), written);
}

class FindingsFile : public testing::Test {
 protected:
  FindingsFile() {
    measured_ = findings_from_json(minimal(), "x");
    measured_.findings.at("accuracy").draws = {{0.8, 0.9, std::nan("")}};
    measured_.layers[0].findings.at("purity").draws = {{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}};
  }
  void TearDown() override { remove_folder(run_.path()); }

  const runs::RunFolder run_ =
      runs::RunFolder::create(std::filesystem::path(testing::TempDir()) / "partwise-findings-test",
                              {{"seed", 1}},
                              {{"data_hash", "abc"}});
  RunFindings measured_;
};

TEST_F(FindingsFile, KeepsTheDrawsToTheLastBit) {
  write_findings(run_, measured_);
  const auto read = require_findings(run_);
  EXPECT_EQ(read.without_draws, "");
  const auto& accuracy = read.findings.at("accuracy").draws;
  EXPECT_EQ(accuracy.own[1], 0.9);
  EXPECT_TRUE(std::isnan(accuracy.own[2]));
  EXPECT_TRUE(accuracy.partner.empty());
  const auto& purity = read.layers[0].findings.at("purity").draws;
  EXPECT_EQ(purity.own, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(purity.partner, (std::vector<double>{0.4, 0.5, 0.6}));
}

TEST_F(FindingsFile, OpensWithoutItsDrawsAndSaysWhy) {
  write_json_atomically(run_.path() / "findings.json", minimal());
  const auto older = require_findings(run_);
  EXPECT_NE(older.without_draws.find("older program"), std::string::npos);
  EXPECT_EQ(older.data_hash, "abc");  // the run's own data
  write_findings(run_, measured_);
  std::filesystem::remove(run_.path() / "draws.safetensors");
  EXPECT_NE(require_findings(run_).without_draws.find("is missing"), std::string::npos);
}

TEST_F(FindingsFile, NoticesTheDrawsOfAnotherMeasuring) {
  write_findings(run_, measured_);
  const auto older = read_file(run_.path() / "findings.json");
  measured_.findings.at("accuracy").draws.own[0] = 0.7;
  write_findings(run_, measured_);
  write_file_atomically(run_.path() / "findings.json", older);
  const auto read = require_findings(run_);
  EXPECT_NE(read.without_draws.find("another findings.json"), std::string::npos);
  EXPECT_TRUE(read.findings.at("accuracy").draws.own.empty());
}

// Killed between any two of its steps, a writer leaves the old findings or the new, with their
// draws.
TEST_F(FindingsFile, KeepsItsDrawsWhereItsSuccessorWasKilled) {
  const auto draws = run_.path() / "draws.safetensors";
  const auto staged = run_.path() / "draws.new.safetensors";
  write_findings(run_, measured_);
  const auto old_json = read_file(run_.path() / "findings.json");
  const auto old_draws = read_file(draws);
  measured_.findings.at("accuracy").draws.own[0] = 0.7;
  write_findings(run_, measured_);
  const auto new_draws = read_file(draws);
  EXPECT_FALSE(std::filesystem::exists(staged));

  write_file_atomically(draws, old_draws);  // after findings.json was written
  write_file_atomically(staged, new_draws);
  EXPECT_EQ(require_findings(run_).findings.at("accuracy").draws.own[0], 0.7);
  settle_findings(run_);
  EXPECT_EQ(read_file(draws), new_draws);
  EXPECT_FALSE(std::filesystem::exists(staged));

  write_file_atomically(draws, old_draws);
  write_file_atomically(staged, new_draws);
  write_file_atomically(run_.path() / "findings.json", old_json);  // before
  const auto read = require_findings(run_);
  EXPECT_EQ(read.without_draws, "");
  EXPECT_NE(read.findings.at("accuracy").draws.own[0], 0.7);

  write_findings(run_, measured_);  // and the next one goes on from there
  EXPECT_EQ(read_file(draws), new_draws);
  EXPECT_FALSE(std::filesystem::exists(staged));
}

// Between a reader's looks at its files a writer may take any number of steps.
TEST_F(FindingsFile, IsWholeForWhoeverReadsWhileItIsWritten) {
  const auto numbered = [&](int64_t number) {
    auto findings = measured_;
    findings.rows = number;
    findings.findings.at("accuracy").draws.own[0] = static_cast<double>(number);
    return findings;
  };
  write_findings(run_, numbered(0));
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int64_t number = 1; number <= 40; ++number) write_findings(run_, numbered(number));
    done = true;
  });
  std::vector<std::string> wrong;
  while (!done) {
    try {
      const auto read = require_findings(run_);
      const auto& own = read.findings.at("accuracy").draws.own;
      if (own.empty())
        wrong.push_back(read.without_draws);
      else if (static_cast<int64_t>(own[0]) != read.rows)
        wrong.emplace_back("draws of other findings");
    } catch (const Error& error) {
      wrong.emplace_back(error.what());
    }
  }
  writer.join();
  EXPECT_TRUE(wrong.empty()) << wrong.size() << ", the first: " << wrong[0];
}

TEST_F(FindingsFile, ANumberThatWasChangedIsNoticed) {
  write_findings(run_, measured_);
  auto text = read_file(run_.path() / "findings.json");
  const auto at = text.find("\"value\": 0.") + 11;
  text[at] = text[at] == '1' ? '2' : '1';
  write_file_atomically(run_.path() / "findings.json", text);
  EXPECT_THROW(require_findings(run_), Error);
}

TEST_F(FindingsFile, ThatIsNoObjectIsRefusedAndReplaced) {
  write_findings(run_, measured_);
  std::filesystem::copy(run_.path() / "draws.safetensors", run_.path() / "draws.new.safetensors");
  write_json_atomically(run_.path() / "findings.json", json::array());
  EXPECT_THROW(read_findings(run_), Error);
  write_findings(run_, measured_);
  EXPECT_EQ(require_findings(run_).without_draws, "");
}

TEST_F(FindingsFile, IsAskedForWhereTheRunWasNotMeasured) {
  EXPECT_FALSE(read_findings(run_).has_value());
  try {
    require_findings(run_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("partwise measure " + run_.path().string()),
              std::string::npos);
  }
}

}  // namespace
}  // namespace partwise::findings
