#include "partwise/formats/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace partwise::formats {
namespace {

// RFC 3720, appendix B.4, and the catalogue's check value.
TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(crc32c(""), 0x00000000U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  std::string rising;
  for (char i = 0; i < 32; ++i) rising.push_back(i);
  EXPECT_EQ(crc32c(rising), 0x46DD794EU);
  EXPECT_EQ(crc32c(std::string(rising.rbegin(), rising.rend())), 0x113FDB5CU);
}

}  // namespace
}  // namespace partwise::formats
