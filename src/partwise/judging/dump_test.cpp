#include "partwise/judging/dump.h"

#include "partwise/base/error.h"
#include "partwise/base/removal.h"
#include "partwise/formats/convert.h"
#include "partwise/formats/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

namespace partwise::judging {
namespace {

namespace fs = std::filesystem;
using formats::Dtype;

template <typename T>
formats::Array array(Dtype dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return formats::make_array(dtype, std::move(shape), std::move(bytes));
}

// Two rows, three filters, 2 x 2 cells.
formats::NamedArrays small() {
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 4.0F;
  formats::NamedArrays file;
  file.arrays["maps"] = array(Dtype::f32, {2, 3, 2, 2}, values);
  file.arrays["annotation"] = array(Dtype::i64, {2}, std::vector<int64_t>{7, 9});
  file.metadata = {{"input_side", "32"}, {"unit_stride", "16"}, {"unit_offset", "7.5"}};
  return file;
}

class DumpFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { remove_folder(folder_); }

  Dump read(const formats::NamedArrays& file) {
    formats::write_safetensors(path_, file);
    return read_dump(path_);
  }
  std::string complaint(const formats::NamedArrays& file) {
    try {
      read(file);
    } catch (const Error& problem) {
      EXPECT_NE(std::string(problem.what()).find(path_.string()), std::string::npos);
      return problem.what();
    }
    return "";
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-dump-test";
  fs::path path_ = folder_ / "dump.safetensors";
};

TEST_F(DumpFile, NeedsNoMoreThanMapsAnnotationAndGrid) {
  const auto dump = read(small());
  EXPECT_EQ(dump.maps.map(1, 2)[3], 23.0F / 4.0F);
  EXPECT_EQ(dump.annotation, (std::vector<int64_t>{7, 9}));
  EXPECT_EQ(dump.label.grid.offset, 7.5);
  EXPECT_EQ(dump.label.grid.input_side, 32);
  EXPECT_FALSE(dump.category.has_value());
  EXPECT_EQ(dump.masked.values.data(), dump.maps.values.data());
}

TEST_F(DumpFile, MayHoldHalfPrecisionCategoriesAndMaskedMaps) {
  auto file = small();
  file.arrays["category"] = array(Dtype::i64, {3}, std::vector<int64_t>{1, 2, 1});
  file.arrays["masked"] = file.arrays["maps"];
  formats::convert_floats(file, Dtype::f16, "test");
  const auto dump = read(file);
  EXPECT_EQ(dump.maps.map(1, 2)[3], 23.0F / 4.0F);
  EXPECT_EQ(dump.category->at(1), 2);
  EXPECT_NE(dump.masked.values.data(), dump.maps.values.data());
}

TEST_F(DumpFile, ThatIsNoneIsRefusedInOneLine) {
  const auto broken = [&](const auto& change) {
    auto file = small();
    change(file);
    const auto line = complaint(file);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    return line;
  };
  const auto has = [](const std::string& line, const char* word) {
    return line.find(word) != std::string::npos;
  };
  EXPECT_TRUE(
      has(broken([](auto& file) { file.arrays.erase("annotation"); }), "no array annotation"));
  EXPECT_TRUE(has(broken([](auto& file) { file.metadata.erase("unit_stride"); }), "unit_stride"));
  EXPECT_TRUE(has(broken([](auto& file) { file.metadata["unit_stride"] = "16px"; }), "16px"));
  EXPECT_TRUE(has(broken([](auto& file) { file.metadata["input_side"] = "-1"; }), "input_side"));
  EXPECT_TRUE(has(broken([](auto& file) {
                    file.arrays["maps"].shape = {2, 3, 4, 1};
                  }),
                  "[rows, filters, n, n]"));
  EXPECT_TRUE(has(broken([](auto& file) {
                    file.arrays["annotation"] = array(Dtype::i64, {1}, std::vector<int64_t>{7});
                  }),
                  "expected [2]"));
  EXPECT_TRUE(has(broken([](auto& file) {
                    file.arrays["annotation"] = array(Dtype::i32, {2}, std::vector<int32_t>{7, 9});
                  }),
                  "I32"));
  EXPECT_TRUE(has(broken([](auto& file) {
                    file.arrays["masked"] = array(Dtype::f32, {2, 3, 1, 1}, std::vector<float>(6));
                  }),
                  "one shape"));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -1.0F, std::numeric_limits<float>::infinity()}) {
    const auto line = broken([&](auto& file) {
      std::vector<float> values(24, 1.0F);
      values[17] = bad;  // row 1, filter 1
      file.arrays["maps"] = array(Dtype::f32, {2, 3, 2, 2}, values);
    });
    EXPECT_TRUE(has(line, "row 1, filter 1")) << line;
  }
}

TEST_F(DumpFile, IsReadAsItWasWrittenBatchByBatch) {
  std::vector<float> maps(24);
  for (std::size_t i = 0; i < maps.size(); ++i) maps[i] = 0.1F * static_cast<float>(i);
  const std::vector<float> masked(6, 2.0F);
  DumpPlan plan;
  plan.label = {"conv4", "tiny", "test", "multi", {3.3, 8.0, 64}, {7.3, 16.0, 64}};
  plan.rows = 2;
  plan.filters = 3;
  plan.side = 2;
  plan.masked_side = 1;
  plan.annotation = {4, -1};
  plan.image = {1, 2};
  plan.category = {5, 5, 6};
  DumpWriter writer(path_, plan);
  const std::span<const float> all(maps);
  writer.write_maps(1, all.subspan(12));
  writer.write_masked(0, masked);
  writer.write_maps(0, all.subspan(0, 12));
  EXPECT_FALSE(fs::exists(path_));
  writer.finish();
  const auto dump = read_dump(path_);
  EXPECT_TRUE(std::equal(maps.begin(), maps.end(), dump.maps.values.begin()));
  EXPECT_TRUE(std::equal(masked.begin(), masked.end(), dump.masked.values.begin()));
  EXPECT_EQ(dump.label.grid.offset, 3.3);
  EXPECT_EQ(dump.label.masked_grid.stride, 16.0);
  EXPECT_EQ(dump.label.layer, "conv4");
  EXPECT_EQ(*dump.image, plan.image);
  EXPECT_EQ(*dump.category, plan.category);
}

TEST_F(DumpFile, IsNotThereUntilItIsFinishedAndNotAtAllWhenF16CannotHoldIt) {
  DumpPlan plan;
  plan.label.grid = {0.0, 1.0, 1};
  plan.rows = plan.filters = plan.side = 1;
  plan.half = true;
  plan.annotation = {4};
  {
    DumpWriter writer(path_, plan);
    EXPECT_THROW(writer.write_maps(0, std::vector<float>{70000.0F}), Error);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(DumpFile, IsRecognisedWhenDamaged) {
  DumpPlan plan;
  plan.label.grid = {0.0, 1.0, 1};
  plan.rows = plan.filters = plan.side = 1;
  plan.annotation = {4};
  DumpWriter writer(path_, plan);
  writer.write_maps(0, std::vector<float>{1.0F});
  writer.finish();
  EXPECT_EQ(read_dump(path_).maps.values.front(), 1.0F);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('\x41');
  file.close();
  EXPECT_THROW(read_dump(path_), Error);
}

}  // namespace
}  // namespace partwise::judging
