#include "partwise/base/files.h"

#include "partwise/base/error.h"
#include "partwise/base/file_lock.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

namespace partwise {
namespace {

namespace fs = std::filesystem;

std::atomic<int> flushed_folders = 0;

}  // namespace
}  // namespace partwise

// In front of the C library's.
extern "C" int fsync(int file) {
  struct stat status {};
  if (::fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) ++partwise::flushed_folders;
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace partwise {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { remove_folder(folder_); }

  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  // What comes behind the target's name in that of a draft of ours: ".tmp1234.5678.90".
  [[nodiscard]] std::string own_mark() const {
    const StagedFile file(folder_ / "x");
    for (const auto& entry : fs::directory_iterator(folder_))
      if (const auto name = entry.path().filename().string(); name.starts_with("x.tmp"))
        return name.substr(1);
    return "";
  }

  void leave(const std::string& name) const { std::ofstream(folder_ / name) << "x"; }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-files-test";
};

TEST_F(Files, AtomicWriteReplacesAndLeavesNoStagingFile) {
  write_file_atomically(folder_ / "a.txt", "one");
  write_file_atomically(folder_ / "a.txt", "two");
  EXPECT_EQ(read_file(folder_ / "a.txt"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, ANewOneReplacesNothing) {
  EXPECT_TRUE(write_new_sealed_json(folder_ / "mark.json", {{"seed", 1}}));
  EXPECT_FALSE(write_new_sealed_json(folder_ / "mark.json", {{"seed", 2}}));
  EXPECT_EQ(read_json(folder_ / "mark.json").at("seed"), 1);
  EXPECT_EQ(entries(), 1);
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

// No process has the number 4194304; nobody began in the first tick but the system itself.
TEST_F(Files, OnlyWhatADeadWriterLeftIsTakenAway) {
  const auto own = ".tmp" + std::to_string(::getpid());
  for (const auto& name : {std::string("a.tmp"), std::string("a.tmpx1"), std::string("a.tmp1.x"),
                           std::string("b.tmp1"), "own" + own})
    leave(name);
  for (const auto& name : {std::string("a.tmp4194304"), std::string("b.tmp4194304.7"),
                           "of one with the same number" + own + ".1"})
    leave(name);
  std::string while_written;
  {
    StagedFile file(folder_ / "new");
    remove_abandoned_writes(folder_);
    for (const auto& entry : fs::directory_iterator(folder_))
      while_written += entry.path().filename().string() + " ";
  }
  EXPECT_NE(while_written.find("new" + own + "."), std::string::npos) << while_written;
  EXPECT_EQ(entries(), 5);
  EXPECT_NO_THROW(remove_abandoned_writes(folder_ / "nowhere"));
}

TEST_F(Files, WhatOnlyLooksLikeADraftStays) {
  for (const char* name : {"notes.tmp20240101", "x.tmp-7", "x.tmp+7", "x.tmp4194304.", "x.tmp.7",
                           "x.tmp4194304.1.2.3", "x.tmp99999999999999999999999"})
    leave(name);
  fs::create_directories(folder_ / "a.tmp4194304" / "inner");
  fs::create_directories(folder_ / "b.tmp4194304");
  fs::create_symlink("notes.tmp20240101", folder_ / "link.tmp4194304");
  EXPECT_NO_THROW(remove_abandoned_writes(folder_));
  EXPECT_EQ(entries(), 10);
}

TEST_F(Files, ADraftOfAnotherMachineIsLeftAloneForADay) {
  const auto mark = own_mark();
  const auto here = std::stoull(mark.substr(mark.rfind('.') + 1));
  const auto elsewhere = std::to_string(here + 1);
  leave("dead.tmp4194304.7." + std::to_string(here));
  leave("young.tmp4194304.7." + elsewhere);
  leave("old.tmp4194304.7." + elsewhere);
  fs::last_write_time(folder_ / ("old.tmp4194304.7." + elsewhere),
                      fs::file_time_type::clock::now() - std::chrono::hours(25));
  remove_abandoned_writes(folder_);
  EXPECT_TRUE(fs::exists(folder_ / ("young.tmp4194304.7." + elsewhere)));
  EXPECT_EQ(entries(), 1);
}

TEST_F(Files, WhatReplacesAFileHasItsMode) {
  const auto mode_of_a = [&] {
    return static_cast<unsigned>(fs::status(folder_ / "a").permissions());
  };
  const mode_t before = ::umask(0027);
  write_file_atomically(folder_ / "a", "one");
  EXPECT_EQ(mode_of_a(), 0640U);
  for (const mode_t mode : {0600U, 0666U, 0400U}) {
    ::chmod((folder_ / "a").c_str(), mode);
    write_file_atomically(folder_ / "a", "two");
    EXPECT_EQ(mode_of_a(), mode);
  }
  ::umask(before);
}

TEST_F(Files, ANewNameIsFlushedToDiskLikeTheFile) {
  const int before = flushed_folders;
  write_file_atomically(folder_ / "a", "x");
  EXPECT_EQ(flushed_folders, before + 1);
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

TEST_F(Files, WhatIsHeldOpenIsWrittenOnWith) {
  const auto log = folder_ / "log";
  for (const std::string place : {"/dev/fd/", "/proc/self/fd/"}) {
    for (const int how : {O_APPEND, O_TRUNC}) {
      std::ofstream(log) << "earlier, ";
      const Descriptor held(::open(log.c_str(), O_WRONLY | how));
      const auto name = place + std::to_string(held.number());
      ASSERT_EQ(::write(held.number(), "before, ", 8), 8);
      make_room_for(name);
      write_file_atomically(name, "written, ");
      ASSERT_EQ(::write(held.number(), "after, ", 7), 7);
      fs::create_symlink(name, folder_ / "link");
      write_file_atomically(folder_ / "link", "by a link");
      fs::remove(folder_ / "link");
      EXPECT_EQ(read_file(log), std::string(how == O_APPEND ? "earlier, " : "") +
                                    "before, written, after, by a link")
          << name;
      fs::remove(log);
      write_file_atomically(name, "into what has no name any more");
      EXPECT_EQ(entries(), 0);
    }
  }
}

TEST_F(Files, WhatIsHeldOpenForReadingStays) {
  write_file_atomically(folder_ / "a", "precious");
  const Descriptor held(::open((folder_ / "a").c_str(), O_RDONLY));
  EXPECT_THROW(write_file_atomically("/dev/fd/" + std::to_string(held.number()), "x"), Error);
  EXPECT_EQ(read_file(folder_ / "a"), "precious");
}

TEST_F(Files, AHeldPipeThatDoesNotWaitGetsTheBytes) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  const Descriptor out(ends[0]);
  const std::string much(200'000, 'x');  // more than a pipe holds
  std::string got;
  std::thread reader([&] {
    std::string piece(1000, '\0');
    while (got.size() < much.size()) {
      const auto count = ::read(out.number(), piece.data(), piece.size());
      if (count == 0) return;
      if (count > 0) got += piece.substr(0, static_cast<std::size_t>(count));
    }
  });
  {
    const Descriptor in(ends[1]);
    EXPECT_NO_THROW(write_file_atomically("/dev/fd/" + std::to_string(in.number()), much));
  }
  reader.join();
  EXPECT_EQ(got, much);
}

TEST_F(Files, WhatWasPrintedBeforeComesBefore) {
  std::fflush(stdout);
  const Descriptor own(::dup(STDOUT_FILENO));
  const Descriptor log(::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT, 0644));
  ASSERT_EQ(::dup2(log.number(), STDOUT_FILENO), STDOUT_FILENO);
  std::fputs("printed, ", stdout);
  EXPECT_NO_THROW(write_file_atomically("/dev/stdout", "written, "));
  std::fputs("printed again", stdout);
  std::fflush(stdout);
  ASSERT_EQ(::dup2(own.number(), STDOUT_FILENO), STDOUT_FILENO);
  EXPECT_EQ(read_file(folder_ / "log"), "printed, written, printed again");
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
