#include "partwise/base/json_text.h"

#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/base/utf8.h"

#include <gtest/gtest.h>

namespace partwise {
namespace {

const auto kOdd = nlohmann::json::object({{"data", "/home/r\xFF"}});

TEST(JsonText, IsUtf8WhateverItHolds) {
  EXPECT_EQ(json_text(kOdd), "{\"data\":\"/home/r\xEF\xBF\xBD\"}");
  EXPECT_EQ(json_text(nlohmann::json::object({{"a", "größe"}}), 1), "{\n \"a\": \"größe\"\n}");
}

TEST(JsonText, OfASealedFileHasTheSealOfWhatIsRead) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "partwise-json-text-test";
  std::filesystem::create_directories(folder);
  write_sealed_json(folder / "manifest.json", kOdd);
  EXPECT_TRUE(is_utf8(read_file(folder / "manifest.json")));
  EXPECT_EQ(read_json(folder / "manifest.json").at("data"), "/home/r\xEF\xBF\xBD");
  remove_folder(folder);
}

}  // namespace
}  // namespace partwise
