#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace partwise {

// Whole file; an Error names the path and the reason. `limit` guards against a wrong or hostile
// file.
std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{1} << 32U);

// A whole file, to be looked at. `name` stands in every complaint about it; `owner` keeps the bytes
// alive and goes into the arrays that point into them.
struct FileBytes {
  std::string name;
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

// Mapped, so that a file of gigabytes costs only the pages that are looked at. Whoever shortens
// the file meanwhile ends the program (SIGBUS); replacing it by renaming is harmless.
FileBytes map_file(const std::filesystem::path& path);

FileBytes bytes_in_memory(std::string name, std::string bytes);

// An open file's number, closed with it; negative where opening failed.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  [[nodiscard]] bool open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

// Writes all the bytes from `offset` on. 0, or the errno of what went wrong.
int write_all(int file, std::string_view bytes, uint64_t offset);

// A file that appears whole or not at all: written beside its target, flushed to disk, then renamed
// over it; the mode of what it replaces stays. Dropped before it is finished, it leaves nothing. A
// link stays a link, and what it leads to is written. A device or a pipe is written into when the
// file is finished; so is what this process holds open, whatever it is, where the target stands for
// that (/dev/stdout, /dev/fd/3): behind all that was written or printed there before. An Error
// names the target.
class StagedFile {
 public:
  explicit StagedFile(std::filesystem::path target);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  void write(uint64_t offset, std::string_view bytes);
  void read(uint64_t offset, std::span<char> into) const;  // what was written
  void finish();
  bool finish_as_new();  // unless the target is there, also since a moment ago: false, and it stays

 private:
  void require(int error) const;
  int hand_over() const;

  std::filesystem::path target_;
  std::filesystem::path place_;  // where the target's links lead
  bool stream_ = false;          // it is written into, not replaced
  std::string staged_;
  int file_ = -1;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// Puts the bytes behind what the file holds, making it where there is none, and flushes them to
// disk. What a full disk leaves of them is a first part.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);

// Takes away what a writer that was killed left in the folder beside its target; nothing is done
// where that cannot be. The draft of a writer elsewhere that shares the folder, or from before this
// machine started anew, is taken for such a one a day after it was last written.
void remove_abandoned_writes(const std::filesystem::path& folder);

// What was sealed is checked and comes without its seal.
nlohmann::json read_json(const std::filesystem::path& path);
std::string reason_in(const nlohmann::json::exception& problem);  // without the library's codes
void write_json_atomically(const std::filesystem::path& path, const nlohmann::json& json);

// An object the program reads back carries a checksum of all its other members, so that no changed
// bit becomes another number. Anything but an object is as it is.
nlohmann::json sealed(nlohmann::json object);
// Without its seal; an Error that names `place` where it does not match. What has none is as it is.
nlohmann::json unsealed(nlohmann::json json, std::string_view place);
void write_sealed_json(const std::filesystem::path& path, const nlohmann::json& object);
// False where the file is there, also since a moment ago; it stays as it is then.
bool write_new_sealed_json(const std::filesystem::path& path, const nlohmann::json& object);

// Creates the folder (and its parents); an Error says why it can't be written to.
void make_writable_folder(const std::filesystem::path& folder);

// The folder a file is to be written into likewise; nothing to do for a link, a device or a pipe.
void make_room_for(const std::filesystem::path& file);

// 64-bit FNV-1a as 16 hex digits: recognises content, guards against damage, not against malice.
std::string content_hash(std::string_view bytes);

// The same of bytes that come piece by piece.
class ContentHash {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] std::string text() const;

 private:
  uint64_t hash_ = 0xCBF29CE484222325ULL;
};

}  // namespace partwise
