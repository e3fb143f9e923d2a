#include "partwise/formats/protobuf_writer.h"

#include "partwise/formats/protobuf_reader_fixture.h"

#include <gtest/gtest.h>

#include <limits>

namespace partwise::formats {
namespace {

using namespace std::string_literals;

std::string integer_bytes(int64_t value) {
  ProtobufWriter writer;
  writer.integer(1, value);
  return writer.bytes();
}

// The wire format's documentation spells these out.
TEST(ProtobufWriter, IntegersTakeAByteForEverySevenBits) {
  EXPECT_EQ(integer_bytes(0), "\x08\x00"s);
  EXPECT_EQ(integer_bytes(1), "\x08\x01"s);
  EXPECT_EQ(integer_bytes(127), "\x08\x7f"s);
  EXPECT_EQ(integer_bytes(128), "\x08\x80\x01"s);
  EXPECT_EQ(integer_bytes(150), "\x08\x96\x01"s);
  EXPECT_EQ(integer_bytes(16383), "\x08\xff\x7f"s);
  EXPECT_EQ(integer_bytes(16384), "\x08\x80\x80\x01"s);
  EXPECT_EQ(integer_bytes(-1), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

TEST(ProtobufWriter, EveryIntegerComesBack) {
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 62,
        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    const auto bytes = integer_bytes(value);
    const auto fields = protobuf_fields(bytes);
    ASSERT_EQ(fields.size(), 1U);
    EXPECT_EQ(static_cast<int64_t>(fields[0].value), value);
  }
}

TEST(ProtobufWriter, AFieldBeyondFifteenTakesATagOfTwoBytes) {
  ProtobufWriter writer;
  writer.integer(15, 1);
  writer.integer(16, 1);
  EXPECT_EQ(writer.bytes(), "\x78\x01\x80\x01\x01"s);
}

TEST(ProtobufWriter, RealsAreLittleEndianOfSingleOrDoublePrecision) {
  ProtobufWriter writer;
  writer.real(2, 1.0F);
  writer.wide_real(1, 1.0);
  EXPECT_EQ(writer.bytes(), "\x15\x00\x00\x80\x3f\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

TEST(ProtobufWriter, TextMayHoldAnyByteAndBeEmpty) {
  ProtobufWriter writer;
  writer.text(2, "testing");
  writer.text(2, "");
  writer.text(2, "\0\xff"s);
  EXPECT_EQ(writer.bytes(), "\x12\x07testing\x12\x00\x12\x02\x00\xff"s);
}

TEST(ProtobufWriter, LengthsOfNestedMessagesAddUpAroundTheirOwnEdges) {
  for (const std::size_t size : {0U, 1U, 123U, 124U, 125U, 126U, 127U, 128U, 16381U, 16384U}) {
    const std::string text(size, 'x');
    ProtobufWriter writer;
    writer.message(3, [&] {
      writer.message(4, [&] { writer.text(5, text); });
      writer.integer(6, 7);
    });
    writer.integer(7, 8);
    const auto outer = protobuf_fields(writer.bytes());
    ASSERT_EQ(outer.size(), 2U) << size;
    const auto inner = protobuf_fields(outer[0].body);
    ASSERT_EQ(inner.size(), 2U) << size;
    EXPECT_EQ(protobuf_text(inner[0].body, 5), text);
    EXPECT_EQ(inner[1].value, 7U);
    EXPECT_EQ(outer[1].value, 8U);
  }
}

}  // namespace
}  // namespace partwise::formats
