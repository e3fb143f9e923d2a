#include "partwise/base/error.h"
#include "partwise/base/random.h"
#include "partwise/formats/matlab.h"
#include "partwise/formats/matlab_fixture.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <sys/resource.h>

namespace partwise::formats {
namespace {

using namespace fixture;

std::string frame_of(const MatlabVariables& variables) {
  std::string bytes;
  for (const auto& [name, value] : variables) {
    hand_over(name, value, [&](std::string_view piece) { bytes += piece; });
  }
  return bytes;
}

MatlabVariables read_frame(std::string bytes) {
  return values_handed_over(bytes_in_memory("a.mat", std::move(bytes)));
}

MatlabVariables example() {
  MatlabVariables variables;
  variables["numbers"] = matlab_numbers(2, 2, {1.0, 2.0, 3.0, 4.0});
  variables["nothing"] = matlab_numbers(0, 0, {});
  variables["mask"] = matlab_mask(2, 3, {1, 0, 0, 0, 1, 1});
  variables["foxes"] =
      matlab_structs({{{"name", matlab_text("grüß")}, {"at", matlab_cells({})}},
                      {{"name", matlab_text("")}, {"at", matlab_numbers(1, 1, {5})}}});
  variables["cells"] = matlab_cells({matlab_text("a"), matlab_cells({matlab_numbers(1, 1, {2})})});
  variables["other"].kind = MatlabValue::Kind::other;
  variables["other"].extents = {std::size_t{1} << 40U, 3};  // of what is not read, anything
  return variables;
}

std::string refusal(const std::string& name, const MatlabValue& value) {
  try {
    read_frame(frame_of({{name, value}}));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MatlabValues, ComeOverAsTheyWere) {
  const auto bytes = frame_of(example());
  const auto read = read_frame(bytes);
  EXPECT_EQ(read.size(), example().size());
  EXPECT_EQ(frame_of(read), bytes);
  EXPECT_EQ(read.at("foxes").field("name", 0).text, "grüß");
  EXPECT_EQ(read.at("other").extents, example().at("other").extents);
  EXPECT_TRUE(read_frame("").empty());
}

TEST(MatlabValues, ThatContradictThemselvesAreRefused) {
  auto value = matlab_numbers(2, 2, {1.0, 2.0, 3.0, 4.0});
  value.extents = {2, 3};
  EXPECT_NE(refusal("x", value).find("a.mat: damaged or hostile"), std::string::npos);
  value.extents = {std::size_t{1} << 61U, 1};  // times eight bytes: 0 in 64 bits
  value.bytes = {};
  EXPECT_NE(refusal("x", value), "");
  value = matlab_structs({{{"x", matlab_text("1")}}});
  value.extents = {2, 1};
  EXPECT_NE(refusal("x", value), "");
  value = matlab_cells({matlab_text("1")});
  value.items.clear();
  EXPECT_NE(refusal("x", value), "");
  value = matlab_text("1");
  value.text = "\xFF";
  EXPECT_NE(refusal("x", value), "");
  EXPECT_NE(refusal("\xFF", matlab_text("1")), "");
}

TEST(MatlabValues, NestedWithoutEndAreRefused) {
  auto value = matlab_text("1");
  for (int i = 0; i < 100; ++i) value = matlab_cells({value});
  EXPECT_NE(refusal("x", value).find("nested"), std::string::npos);
}

// As many as half a gigabyte of holes could hold.
TEST(MatlabValues, ThatPromiseManyExtentsTakeNoMemory) {
  const auto path = std::filesystem::path(testing::TempDir()) / "partwise-matlab-values-test";
  constexpr std::size_t kSize = std::size_t{1} << 29U;
  const std::array<uint64_t, 4> begin{0, 0, 0,
                                      kSize / sizeof(uint64_t) - 4};  // no name, a kind, a type
  write_file_atomically(path, {reinterpret_cast<const char*>(begin.data()), sizeof begin});
  std::filesystem::resize_file(path, kSize);
  const auto kilobytes = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  };
  const auto before = kilobytes();
  EXPECT_THROW(values_handed_over(map_file(path)), Error);
  EXPECT_LT(kilobytes() - before, 100'000);
  std::filesystem::remove(path);
}

TEST(MatlabValues, DamagedAnywhereEndInAnErrorOrAValue) {
  const auto bytes = frame_of(example());
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    try {
      read_frame(bytes.substr(0, size));
    } catch (const Error&) {
    }
  }
  Random random(5);
  int errors = 0;
  for (int i = 0; i < 3000; ++i) {
    auto damaged = bytes;
    for (int64_t flips = 1 + random.below(4); flips > 0; --flips) {
      damaged[static_cast<std::size_t>(random.below(static_cast<int64_t>(bytes.size())))] =
          static_cast<char>(random.below(256));
    }
    try {
      read_frame(damaged);
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 1000);
}

}  // namespace
}  // namespace partwise::formats
