#include "partwise/runs/event_file.h"

#include "partwise/formats/protobuf_reader_fixture.h"

#include <gtest/gtest.h>

#include <cstring>

namespace partwise::runs {
namespace {

using namespace std::string_literals;

TEST(EventFile, ARecordIsItsLengthItsDataAndACrcOfEach) {
  const auto record = tf_record("abc");
  ASSERT_EQ(record.size(), 8U + 4U + 3U + 4U);
  EXPECT_EQ(record.substr(0, 8), "\x03\0\0\0\0\0\0\0"s);
  EXPECT_EQ(record.substr(12, 3), "abc");
  uint32_t masked = 0;
  std::memcpy(&masked, record.data() + 15, sizeof masked);
  const uint32_t published = 0x364B3FB7U;  // crc32c("abc")
  EXPECT_EQ(masked, ((published >> 15U) | (published << 17U)) + 0xA282EAD8U);
}

TEST(EventFile, MoreRowsOnlyAddToTheBytesOfFewer) {
  const nlohmann::json one{{"epoch", 1}, {"loss", 0.5}, {"seconds", 2.0}};
  const nlohmann::json two{{"epoch", 2}, {"loss", 0.25}, {"seconds", 3.0}};
  const auto first = event_file({one}, 100.0);
  const auto both = event_file({one, two}, 100.0);
  EXPECT_TRUE(first.starts_with(event_file({}, 100.0)));
  EXPECT_TRUE(both.starts_with(first));
  const auto event =
      std::string_view(both).substr(first.size() + 12, both.size() - first.size() - 16);
  const auto fields = formats::protobuf_fields(event);
  ASSERT_EQ(fields.size(), 3U);
  double time = 0.0;
  std::memcpy(&time, fields[0].body.data(), sizeof time);
  EXPECT_EQ(time, 105.0);
  EXPECT_EQ(fields[1].value, 2U);
  const auto values = formats::protobuf_fields(fields[2].body);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(formats::protobuf_text(values[0].body, 1), "loss");
  float loss = 0.0F;
  std::memcpy(&loss, formats::protobuf_text(values[0].body, 2).data(), sizeof loss);
  EXPECT_EQ(loss, 0.25F);
}

}  // namespace
}  // namespace partwise::runs
