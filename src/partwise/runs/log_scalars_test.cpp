#include "partwise/runs/log_scalars.h"

#include "partwise/formats/protobuf_reader_fixture.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace partwise::runs {
namespace {

using namespace std::string_literals;

using nlohmann::json;

const json kRow = json::parse(R"({"epoch": 1, "loss": 0.1, "layers": [
    {"layer": "conv4", "loss": -2, "filters_per_category": [3, 5]}],
    "validation": {"accuracy": 0.5, "layers": [{"layer": "conv4", "purity": null}]}})");

TEST(LogScalars, AreNamedByTheirPlace) {
  std::vector<std::string> seen;
  for (const auto& [name, value] : scalars_of(kRow)) seen.push_back(name);
  EXPECT_EQ(seen, (std::vector<std::string>{"epoch", "conv4/filters_per_category.0",
                                            "conv4/filters_per_category.1", "conv4/loss", "loss",
                                            "validation/accuracy"}));
}

TEST(LogScalars, ColumnsStayWhereTheyAreWhenLaterRowsBringMore) {
  auto later = kRow;
  later["epoch"] = 2;
  later["loss"] = 0.30000000000000004;
  later["validation"]["layers"][0]["purity"] = 0.75;
  const auto one = log_csv({kRow});
  const auto two = log_csv({kRow, later});
  EXPECT_EQ(one,
            "epoch,conv4/filters_per_category.0,conv4/filters_per_category.1,conv4/loss,loss,"
            "validation/accuracy\n1,3,5,-2,0.1,0.5\n");
  EXPECT_EQ(two,
            "epoch,conv4/filters_per_category.0,conv4/filters_per_category.1,conv4/loss,loss,"
            "validation/accuracy,validation/conv4/purity\n"
            "1,3,5,-2,0.1,0.5,\n2,3,5,-2,0.30000000000000004,0.5,0.75\n");
  EXPECT_EQ(log_csv({}), "epoch\n");
}

// The CRC-32C behind a record's data.
uint32_t crc_of(const std::string& data) {
  const auto record = tf_record(data);
  uint32_t masked = 0;
  std::memcpy(&masked, record.data() + record.size() - sizeof masked, sizeof masked);
  return std::rotl(masked - 0xA282EAD8U, 15);
}

TEST(EventFile, ARecordIsItsLengthItsDataAndACrcOfEach) {
  const auto record = tf_record("abc");
  ASSERT_EQ(record.size(), 8U + 4U + 3U + 4U);
  EXPECT_EQ(record.substr(0, 8), "\x03\0\0\0\0\0\0\0"s);
  EXPECT_EQ(record.substr(12, 3), "abc");
  EXPECT_EQ(crc_of("abc"), 0x364B3FB7U);
}

// RFC 3720, appendix B.4, and the catalogue's check value.
TEST(EventFile, ItsCrcsAreThePublishedOnes) {
  EXPECT_EQ(crc_of(""), 0x00000000U);
  EXPECT_EQ(crc_of("123456789"), 0xE3069283U);
  EXPECT_EQ(crc_of(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc_of(std::string(32, '\xff')), 0x62A8AB43U);
  std::string rising;
  for (char i = 0; i < 32; ++i) rising.push_back(i);
  EXPECT_EQ(crc_of(rising), 0x46DD794EU);
  EXPECT_EQ(crc_of(std::string(rising.rbegin(), rising.rend())), 0x113FDB5CU);
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
