#include "partwise/formats/zip.h"

#include "partwise/base/error.h"
#include "partwise/formats/pth_fixture.h"

#include <gtest/gtest.h>

namespace partwise::formats {
namespace {

using fixture::ZipWriter;

std::string reason(const std::string& bytes) {
  try {
    const ZipArchive archive(bytes, "x.pth");
    for (const auto& [name, entry] : archive.entries()) (void)archive.contents(name);
    return "read";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Zip, StoredEntriesAreFoundByName) {
  for (const bool zip64 : {false, true}) {
    ZipWriter zip;
    zip.zip64 = zip64;
    zip.add("net/data.pkl", "pickle");
    zip.add("net/empty", "");
    const auto bytes = zip.finished("a comment with PK\5\6 in it");
    const ZipArchive archive(bytes, "x.pth");
    EXPECT_EQ(archive.entries().size(), 2U);
    EXPECT_EQ(archive.contents("net/data.pkl"), "pickle");
    EXPECT_EQ(archive.contents("net/empty"), "");
    EXPECT_THROW((void)archive.contents("net/none"), Error);
  }
}

TEST(Zip, EveryTruncationIsRefused) {
  for (const bool zip64 : {false, true}) {
    ZipWriter zip;
    zip.zip64 = zip64;
    zip.add("net/data.pkl", "pickle");
    const auto whole = zip.finished();
    for (std::size_t keep = 0; keep < whole.size(); ++keep) {
      EXPECT_EQ(reason(whole.substr(0, keep)).rfind("x.pth: ", 0), 0U) << keep;
    }
    EXPECT_EQ(reason(whole), "read");
  }
}

TEST(Zip, CompressedAndEncryptedEntriesAreRefusedByName) {
  ZipWriter deflated;
  deflated.method = 8;
  deflated.add("net/data.pkl", "abc");
  EXPECT_EQ(
      reason(deflated.finished()),
      "x.pth: zip entry net/data.pkl is compressed (method 8), as torch.save never does; load "
      "the file in PyTorch and save it again");
  ZipWriter secret;
  secret.flags = 1;
  secret.add("net/data.pkl", "abc");
  EXPECT_EQ(reason(secret.finished()),
            "x.pth: zip entry net/data.pkl is encrypted; unpack it and save it plain");
}

TEST(Zip, AWrongChecksumIsNoticed) {
  ZipWriter zip;
  zip.crc_error = 1;
  zip.add("net/data.pkl", "abc");
  EXPECT_EQ(reason(zip.finished()),
            "x.pth: damaged: zip entry net/data.pkl does not match its checksum; fetch the file "
            "again");
}

TEST(Zip, OverlappingEntriesAreRefused) {
  ZipWriter zip;
  zip.add("net/data.pkl", "abc");
  zip.repeat_last_directory_entry();
  EXPECT_EQ(reason(zip.finished()), "x.pth: damaged: zip entry net/data.pkl overlaps another");
}

TEST(Zip, EveryDamagedByteIsAnErrorOrHarmlessNeverACrash) {
  for (const bool zip64 : {false, true}) {
    ZipWriter zip;
    zip.zip64 = zip64;
    zip.add("net/data.pkl", "pickle");
    zip.add("net/version", "3");
    const auto whole = zip.finished();
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const char value : {'\0', '\1', '\x7F', '\xFF'}) {
        auto damaged = whole;
        damaged[at] = value;
        EXPECT_FALSE(reason(damaged).empty());
      }
    }
  }
}

}  // namespace
}  // namespace partwise::formats
