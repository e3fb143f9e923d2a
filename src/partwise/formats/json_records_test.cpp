#include "partwise/formats/json_records.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <fstream>

namespace partwise::formats {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class JsonFileOnDisk : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  [[nodiscard]] JsonFile opened(const std::string& text) const {
    std::ofstream(path_) << text;
    return JsonFile(path_);
  }

  // What opening it, or walking its list "a", complains about.
  [[nodiscard]] std::string reason(const std::string& text) const {
    try {
      opened(text).for_each("a", [](std::string_view, const json&) {});
      return "fine";
    } catch (const Error& error) {
      return error.what();
    }
  }

  fs::path path_ = fs::path(testing::TempDir()) / "partwise-records.json";
};

TEST_F(JsonFileOnDisk, GivesWhatAParserOfTheWholeWouldGive) {
  const json whole = {{"a", {{{"x", "br]ace \"}"}, {"y", {1, {2, 3}}}}, 7, "text\\", nullptr}},
                      {"info", {{"k", -1.5e3}}},
                      {"empty", json::array()},
                      {"\xC3\xA9", true}};
  for (const int indent : {-1, 2}) {
    const auto file = opened(whole.dump(indent));
    json records = json::array();
    file.for_each("a", [&](std::string_view text, const json& record) {
      EXPECT_EQ(file.parse(text), record);
      records.push_back(record);
    });
    EXPECT_EQ(records, whole["a"]);
    EXPECT_EQ(file.value("info"), whole["info"]);
    EXPECT_EQ(file.value("\xC3\xA9"), true);
    EXPECT_TRUE(file.value("absent").is_null());
    file.for_each("empty", [](std::string_view, const json&) { FAIL(); });
    file.for_each("absent", [](std::string_view, const json&) { FAIL(); });
  }
  EXPECT_EQ(opened("\xEF\xBB\xBF{\"a\": 1}").value("a"), 1);
}

TEST_F(JsonFileOnDisk, EveryDamageIsOneLineThatNamesTheFile) {
  for (const auto* text : {"",
                           "  ",
                           "[]",
                           "3",
                           "nonsense",
                           "{",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\": [",
                           "{\"a\": [1,]}",
                           "{\"a\": [1 2]}",
                           "{\"a\": [1}}",
                           "{\"a\": \"x}",
                           "{\"a\": \"\\",
                           "{\"a\": []} x",
                           "{1: 2}",
                           "{\"a\": 5}",
                           "{\"a\": [nul]}",
                           "{\"a\": [{\"b\": 01}]}",
                           "{\"a\": [\"\xFF\"]}",
                           "{\"a\": [] \"b\": 1}",
                           "{,}",
                           "{\"a\": [,1]}"}) {
    const auto words = reason(text);
    EXPECT_NE(words.find("partwise-records.json"), std::string::npos) << text;
    EXPECT_EQ(words.find('\n'), std::string::npos) << text;
  }
}

TEST_F(JsonFileOnDisk, NestingIsBounded) {
  EXPECT_EQ(reason("{\"a\": [" + std::string(40, '[') + std::string(40, ']') + "]}"), "fine");
  const auto words = reason("{\"a\": [" + std::string(1'000'000, '['));
  EXPECT_NE(words.find("nested deeper"), std::string::npos) << words;
}

}  // namespace
}  // namespace partwise::formats
