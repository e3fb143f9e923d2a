#include "partwise/base/files.h"

#include "partwise/base/error.h"
#include "partwise/base/file_lock.h"
#include "partwise/base/removal_fixture.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

namespace partwise {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { remove_folder(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-files-test";
};

TEST_F(Files, AtomicWriteReplacesAndLeavesNoStagingFile) {
  write_file_atomically(folder_ / "a.txt", "one");
  write_file_atomically(folder_ / "a.txt", "two");
  EXPECT_EQ(read_file(folder_ / "a.txt"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, FailedWriteNamesThePathAndKeepsWhatWasThere) {
  fs::create_directories(folder_ / "b" / "c");
  try {
    write_file_atomically(folder_ / "b", "text");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find((folder_ / "b").string()), std::string::npos);
  }
  EXPECT_TRUE(fs::is_directory(folder_ / "b" / "c"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, AStagedOneIsWrittenInAnyOrderAndAppearsAtTheEnd) {
  {
    StagedFile file(folder_ / "a.txt");
    file.write(3, "def");
    file.write(0, "abc");
    std::string back(4, '\0');
    file.read(1, back);
    EXPECT_EQ(back, "bcde");
    EXPECT_FALSE(fs::exists(folder_ / "a.txt"));
    file.finish();
  }
  EXPECT_EQ(read_file(folder_ / "a.txt"), "abcdef");
  { StagedFile(folder_ / "b.txt").write(0, "dropped"); }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, AHashOfPiecesIsThatOfTheWhole) {
  ContentHash hash;
  hash.add("ab");
  hash.add("");
  hash.add("c");
  EXPECT_EQ(hash.text(), content_hash("abc"));
}

TEST_F(Files, WhatIsAppendedComesLast) {
  append_to_file(folder_ / "log", "one\n");
  append_to_file(folder_ / "log", "two\n");
  EXPECT_EQ(read_file(folder_ / "log"), "one\ntwo\n");
  EXPECT_THROW(append_to_file(folder_, "x"), Error);
}

// Process ids end far below 2000000000; nobody began in the first tick but the system itself.
TEST_F(Files, OnlyWhatADeadWriterLeftIsTakenAway) {
  const auto own = ".tmp" + std::to_string(::getpid());
  for (const auto& name : {std::string("a.tmp"), std::string("a.tmpx1"), std::string("a.tmp1.x"),
                           std::string("b.tmp1"), "own" + own})
    write_file_atomically(folder_ / name, "x");
  for (const auto& name : {std::string("a.tmp2000000000"), std::string("b.tmp2000000000.7"),
                           "of one with the same number" + own + ".1"})
    write_file_atomically(folder_ / name, "x");
  std::string while_written;
  {
    StagedFile file(folder_ / "new");
    remove_abandoned_writes(folder_);
    for (const auto& entry : fs::directory_iterator(folder_))
      while_written += entry.path().filename().string() + " ";
  }
  EXPECT_NE(while_written.find("new" + own + "."), std::string::npos) << while_written;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 5);
  EXPECT_NO_THROW(remove_abandoned_writes(folder_ / "nowhere"));
}

TEST_F(Files, ReadingAFolderAMissingOrAHugeFileSaysSo) {
  EXPECT_THROW(read_file(folder_), Error);
  EXPECT_THROW(read_file(folder_ / "none"), Error);
  write_file_atomically(folder_ / "big", "12345");
  EXPECT_THROW(read_file(folder_ / "big", 4), Error);
}

TEST_F(Files, BrokenJsonNamesTheFile) {
  write_file_atomically(folder_ / "x.json", "{\"a\": ");
  EXPECT_THROW(read_json(folder_ / "x.json"), Error);
}

TEST_F(Files, ALinkStaysALinkAndWhatItLeadsToIsWritten) {
  write_file_atomically(folder_ / "real", "before");
  fs::create_symlink("real", folder_ / "link");
  fs::create_symlink("link", folder_ / "link to a link");
  fs::create_symlink("new", folder_ / "link to nothing");
  write_file_atomically(folder_ / "link to a link", "after");
  write_file_atomically(folder_ / "link to nothing", "made");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link to a link"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link to nothing"));
  EXPECT_EQ(read_file(folder_ / "real"), "after");
  EXPECT_EQ(read_file(folder_ / "new"), "made");
}

TEST_F(Files, APipeGetsTheBytesAndStays) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const std::string much(200'000, 'x');  // more than a pipe holds
  std::string got;
  std::thread reader([&] {
    std::ifstream pipe(folder_ / "pipe", std::ios::binary);
    got.assign(std::istreambuf_iterator<char>(pipe), {});
  });
  write_file_atomically(folder_ / "pipe", much);
  reader.join();
  EXPECT_EQ(got, much);
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

// Not the machine's own: a program that gets this wrong destroys them.
TEST_F(Files, ADeviceIsWrittenIntoAndStays) {
  const auto null = folder_ / "null";
  const auto full = folder_ / "full";
  const bool made = ::mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0 &&
                    ::mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0;
  if (!made || !std::ofstream(null)) GTEST_SKIP() << "devices cannot be made here";
  write_file_atomically(null, "nothing");
  EXPECT_THROW(write_file_atomically(full, "something"), Error);
  EXPECT_TRUE(fs::is_character_file(null));
  EXPECT_TRUE(fs::is_character_file(full));
}

TEST_F(Files, SealedJsonComesBackAndAnyOtherDigitIsNoticed) {
  const nlohmann::json object{{"a", 0.1}, {"b", {1, -2, nullptr}}, {"c", {{"d", "text"}}}};
  const auto path = folder_ / "x.json";
  write_sealed_json(path, object);
  EXPECT_EQ(read_json(path), object);
  const auto sound = read_file(path);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    auto bytes = sound;
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    write_file_atomically(path, bytes);
    try {
      auto read = read_json(path);
      for (const auto& [key, value] : object.items())  // the seal's own name may be hit
        EXPECT_EQ(read.at(key), value) << bytes;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("x.json"), std::string::npos);
    }
  }
}

TEST_F(Files, JsonWithoutASealIsReadAsItIs) {
  write_json_atomically(folder_ / "x.json", {{"a", 1}});
  EXPECT_EQ(read_json(folder_ / "x.json"), (nlohmann::json{{"a", 1}}));
  EXPECT_EQ(unsealed(nlohmann::json::array({1}), "x"), nlohmann::json::array({1}));
}

TEST_F(Files, ContentHashIsFnv1a) {
  EXPECT_EQ(content_hash(""), "cbf29ce484222325");
  EXPECT_EQ(content_hash("a"), "af63dc4c8601ec8c");  // published test vector
}

// Each adds 1 to a number in a file, which loses some where two do it at once.
TEST_F(Files, ALockLetsOneInAtATime) {
  write_file_atomically(folder_ / "number", "0");
  std::vector<std::thread> people;
  for (int person = 0; person < 4; ++person) {
    people.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        const FileLock lock(folder_ / "lock");
        const auto number = std::stoi(read_file(folder_ / "number"));
        write_file_atomically(folder_ / "number", std::to_string(number + 1));
      }
    });
  }
  for (auto& person : people) person.join();
  EXPECT_EQ(read_file(folder_ / "number"), "100");
  EXPECT_THROW(FileLock(folder_ / "nowhere" / "lock"), Error);
}

}  // namespace
}  // namespace partwise
