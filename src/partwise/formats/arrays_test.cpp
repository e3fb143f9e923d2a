#include "partwise/formats/arrays.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <limits>

namespace partwise::formats {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr std::string_view kStorage = "0123456789ab";

std::string_view letters(const Array& array) {
  return array.bytes;
}

Array part(int64_t offset, std::vector<int64_t> shape, std::vector<int64_t> strides) {
  return dense({Dtype::u8, offset, std::move(shape), std::move(strides)}, kStorage, nullptr, "x");
}

TEST(Strided, ADensePartPointsIntoTheStorage) {
  const auto array = part(2, {2, 3}, {3, 1});
  EXPECT_EQ(letters(array), "234567");
  EXPECT_EQ(array.bytes.data(), kStorage.data() + 2);
}

TEST(Strided, TransposedSkippingAndRepeatedPartsAreCopied) {
  EXPECT_EQ(letters(part(0, {3, 4}, {1, 3})), "0369147a258b");
  EXPECT_EQ(letters(part(1, {2, 2}, {6, 2})), "1379");
  EXPECT_EQ(letters(part(5, {2, 3}, {1, 0})), "555666");
}

TEST(Strided, ScalarsAndEmptyPartsAreFine) {
  EXPECT_EQ(letters(part(11, {}, {})), "b");
  EXPECT_EQ(letters(part(99, {3, 0, 5}, {1, 1, 1})), "");
}

TEST(Strided, TheStrideOfASingleRowDoesNotMatter) {
  EXPECT_EQ(letters(part(3, {1, 4}, {kHuge, 1})), "3456");
  EXPECT_EQ(letters(part(3, {2, 1, 2}, {1, kHuge, 3})), "3647");
}

TEST(Strided, NothingOutsideTheStorageIsReached) {
  EXPECT_THROW(part(12, {}, {}), Error);
  EXPECT_THROW(part(-1, {2}, {1}), Error);
  EXPECT_THROW(part(0, {13}, {1}), Error);
  EXPECT_THROW(part(10, {2}, {2}), Error);
  EXPECT_THROW(part(5, {2}, {-1}), Error);
  EXPECT_THROW(part(0, {2, 2}, {kHuge, kHuge}), Error);
  EXPECT_THROW(part(0, {kHuge, kHuge}, {0, 0}), Error);
  EXPECT_THROW(dense({Dtype::f32, 0, {1}, {1}}, "abc", nullptr, "x"), Error);
}

}  // namespace
}  // namespace partwise::formats
