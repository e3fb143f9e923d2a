#pragma once

// For tests: a scratch folder and small photographs to import.
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/import/import.h"
#include "partwise/images/codec.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace partwise::datasets {

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    remove_folder(root_);
    std::filesystem::create_directories(source_);
  }
  void TearDown() override { remove_folder(root_); }

  // A grey photograph; other greys are other contents.
  void photograph(const std::string& name, int64_t width, int64_t height, uint8_t grey) const {
    write(name, images::encode_jpeg(images::Image::blank(width, height, grey), 90));
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((source_ / name).parent_path());
    write_file_atomically(source_ / name, bytes);
  }

  [[nodiscard]] ImportRequest request(const std::string& format) const {
    ImportRequest request;
    request.format = format;
    request.source = source_;
    request.out = root_ / "out";
    request.threads = 2;
    return request;
  }

  std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) /
      ("partwise-import-" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  std::filesystem::path source_ = root_ / "original";
};

// The note of a report that holds these words; "" where none does.
inline std::string note_with(const ImportReport& report, const std::string& words) {
  for (const auto& note : report.notes) {
    if (note.find(words) != std::string::npos) return note;
  }
  return "";
}

template <typename Act>
std::string reason_of(const Act& act) {
  try {
    act();
    return "nothing was wrong";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace partwise::datasets
