#include "partwise/base/files.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/json_text.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace partwise {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStaged = ".tmp";         // and the writer
constexpr uint64_t kLargestProcess = 4'194'304;      // no process has it, nor a larger one
constexpr auto kForgotten = std::chrono::hours(24);  // by a writer that cannot be asked
constexpr auto kSeal = "checksum";

// When a process began, in ticks since the machine started; nothing of one that has ended, 0 of one
// whose owner keeps it to himself.
std::optional<uint64_t> beginning_of(pid_t process) {
  if (::kill(process, 0) != 0 && errno == ESRCH) return std::nullopt;
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  constexpr int kState = 3;
  constexpr int kBeginning = 22;
  for (int i = kState; i <= kBeginning && fields >> field; ++i)
    if (i == kState && (field == "Z" || field == "X")) return std::nullopt;
  uint64_t ticks = 0;
  std::from_chars(field.data(), field.data() + field.size(), ticks);
  return ticks;
}

// This machine since it started, and who counts the processes: another machine or container that
// shares a folder has other processes under the same numbers.
uint64_t this_place() {
  static const uint64_t place = [] {
    std::string text;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
    std::error_code failure;
    text += fs::read_symlink("/proc/self/ns/pid", failure).string();
    return std::stoull(content_hash(text).substr(0, 8), nullptr, 16);
  }();
  return place;
}

// "1234.5678.90": this process, when it began, since numbers of processes come again, and where.
std::string this_writer() {
  return fmt::format("{}.{}.{}", ::getpid(), beginning_of(::getpid()).value_or(0), this_place());
}

// Those of "1234.5678.90"; none where anything else is written.
std::vector<uint64_t> dotted_numbers(std::string_view text) {
  std::vector<uint64_t> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  for (;;) {
    const auto read = std::from_chars(at, end, numbers.emplace_back());
    if (read.ec != std::errc()) return {};
    if (read.ptr == end) return numbers;
    if (*read.ptr != '.') return {};
    at = read.ptr + 1;
  }
}

bool lives(pid_t process, uint64_t began) {
  const auto now = beginning_of(process);
  return now && (*now == 0 || began == 0 || *now == began);
}

// Whether a writer that was killed left it. Older programs did not say when or where they began.
bool is_abandoned(const fs::directory_entry& entry) {
  std::error_code failure;
  const auto name = entry.path().filename().string();
  const auto mark = name.rfind(kStaged);
  if (mark == std::string::npos || !fs::is_regular_file(entry.symlink_status(failure)))
    return false;
  auto writer = dotted_numbers(std::string_view(name).substr(mark + kStaged.size()));
  if (writer.empty() || writer.size() > 3 || writer[0] > kLargestProcess) return false;
  if (writer.size() == 3 && writer[2] != this_place()) {
    const auto written = entry.last_write_time(failure);
    return !failure && fs::file_time_type::clock::now() - written > kForgotten;
  }
  return !lives(static_cast<pid_t>(writer[0]), writer.size() > 1 ? writer[1] : 0);
}

int flush_and_close(int file) {
  int error = ::fsync(file) != 0 ? errno : 0;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// Takes care that a power cut does not take a new name back. Not every file system can.
void flush_folder_of(const fs::path& file) {
  const Descriptor folder(::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) ::fsync(folder.number());
}

// Neither a file nor a folder: a device, a pipe, or a link to one.
bool is_stream(const fs::path& path) {
  std::error_code failure;
  const auto status = fs::status(path, failure);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Whether it stands for what a process holds open, as /dev/stdout does in the end, and not for the
// name that reading the link gives: that may be none, or a log which others write as well.
bool is_descriptor(const fs::path& path) {
  std::error_code failure;
  const auto folder = fs::canonical(folder_of(path), failure);
  return folder.filename() == "fd" && folder.string().starts_with("/proc/");
}

constexpr int kMostLinks = 40;  // as many as Linux follows

// Where the links lead, to a descriptor at most.
fs::path behind_links(fs::path path) {
  std::error_code failure;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, failure) && !is_descriptor(path); ++i)
    path = path.parent_path() / fs::read_symlink(path, failure);
  return path;
}

// A descriptor of our own is written on with: opened anew, it would begin at the file's first byte.
int open_stream(const fs::path& path) {
  std::error_code failure;
  const bool own = is_descriptor(path) && fs::canonical(folder_of(path), failure) ==
                                              fs::canonical("/proc/self/fd", failure);
  if (!own) return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  std::fflush(stdout);  // what was printed before comes before
  const auto number = dotted_numbers(path.filename().string());
  return ::fcntl(number.empty() ? -1 : static_cast<int>(number[0]), F_DUPFD_CLOEXEC, 0);
}

// The mode of the file that will be replaced; nothing where there is none.
std::optional<mode_t> mode_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status.st_mode & 0777U;
}

}  // namespace

FileBytes map_file(const fs::path& path) {
  const auto name = path.string();
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  ensure(file.open(), "{}: cannot open: {}", name, std::strerror(errno));
  struct stat status {};
  const int failure = ::fstat(file.number(), &status) == 0 ? 0 : errno;
  ensure(failure == 0, "{}: cannot read: {}", name, std::strerror(failure));
  ensure(!S_ISDIR(status.st_mode), "{}: is a folder, expected a file", name);
  ensure(S_ISREG(status.st_mode), "{}: is not a regular file; save it to disk first", name);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {name, {}, nullptr};  // mmap refuses to map nothing
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  ensure(start != MAP_FAILED, "{}: cannot map {} bytes: {}", name, size, std::strerror(errno));
  std::shared_ptr<const void> owner(start, [size](void* mapped) { ::munmap(mapped, size); });
  return {name, {static_cast<const char*>(start), size}, std::move(owner)};
}

FileBytes bytes_in_memory(std::string name, std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {std::move(name), *owner, owner};
}

Descriptor::~Descriptor() {
  if (open()) ::close(number_);
}

int write_all(int file, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno != EINTR) return errno;
    if (written <= 0) continue;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return 0;
}

std::string read_file(const fs::path& path, std::size_t limit) {
  std::error_code failure;
  const auto status = fs::status(path, failure);
  ensure(fs::exists(status), "{}: no such file", path.string());
  ensure(!fs::is_directory(status), "{}: is a folder, expected a file", path.string());
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open())
    throw Error(fmt::format("{}: cannot open: {}", path.string(), std::strerror(errno)));
  struct stat opened {};  // a writer may have given the name to another file meanwhile
  ensure(::fstat(file.number(), &opened) == 0 && S_ISREG(opened.st_mode),
         "{}: is not a regular file; save it to disk first", path.string());
  const auto size = static_cast<std::size_t>(opened.st_size);
  ensure(size <= limit, "{}: {} bytes is more than the {} accepted here", path.string(), size,
         limit);
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const auto count = ::read(file.number(), bytes.data() + got, size - got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw Error(fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
    ensure(count > 0, "{}: ended after {} of {} bytes", path.string(), got, size);
    got += static_cast<std::size_t>(count);
  }
  return bytes;
}

StagedFile::StagedFile(fs::path target)
    : target_(std::move(target)),
      place_(behind_links(target_)),
      stream_(is_stream(place_) || is_descriptor(place_)) {
  if (stream_) {
    staged_ = (fs::temp_directory_path() / "partwise.XXXXXX").string();
    file_ = ::mkostemp(staged_.data(), O_CLOEXEC);
    if (file_ >= 0) ::unlink(staged_.c_str());  // waiting for a reader may be interrupted
    if (file_ >= 0) staged_.clear();
  } else {
    Unbroken::begin();
    staged_ = place_.string() + std::string(kStaged) + this_writer();
    const auto mode = mode_of(place_);
    file_ = ::open(staged_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode ? 0600 : 0644);
    if (file_ >= 0 && mode) ::fchmod(file_, *mode);
  }
  if (file_ >= 0) return;
  const int failure = errno;
  if (!stream_) Unbroken::end();
  require(failure);
}

StagedFile::~StagedFile() {
  if (file_ >= 0) ::close(file_);
  if (!staged_.empty()) ::unlink(staged_.c_str());
  if (!stream_) Unbroken::end();
}

void StagedFile::write(uint64_t offset, std::string_view bytes) {
  require(write_all(file_, bytes, offset));
}

void StagedFile::read(uint64_t offset, std::span<char> into) const {
  while (!into.empty()) {
    const auto count = ::pread(file_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    require(count < 0 ? errno : count == 0 ? EIO : 0);
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
}

void StagedFile::finish() {
  if (stream_) return require(hand_over());
  require(flush_and_close(std::exchange(file_, -1)));
  require(::rename(staged_.c_str(), place_.c_str()) != 0 ? errno : 0);
  staged_.clear();
  flush_folder_of(place_);
}

namespace {

// 0, or the errno of what went wrong: EEXIST where the target is there.
int rename_to_new(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (fs::exists(to)) return EEXIST;  // this file system cannot look and rename at once
  return ::rename(from, to) == 0 ? 0 : errno;
}

}  // namespace

bool StagedFile::finish_as_new() {
  expects(!stream_, "{} is no new file", target_.string());
  require(flush_and_close(std::exchange(file_, -1)));
  const int failure = rename_to_new(staged_.c_str(), place_.c_str());
  if (failure == EEXIST) return false;
  require(failure);
  staged_.clear();
  flush_folder_of(place_);
  return true;
}

// The whole file into the device or pipe; a pipe is waited for until somebody reads it.
int StagedFile::hand_over() const {
  const Descriptor out(open_stream(place_));
  if (!out.open()) return errno;
  std::vector<char> piece(std::size_t{1} << 16U);
  for (off_t at = 0;;) {
    const auto count = ::pread(file_, piece.data(), piece.size(), at);
    if (count < 0) return errno;
    if (count == 0) return 0;
    at += count;
    for (ssize_t done = 0; done < count;) {
      const auto written = ::write(out.number(), piece.data() + done, count - done);
      if (written < 0 && errno == EAGAIN) {
        pollfd room{out.number(), POLLOUT, 0};
        ::poll(&room, 1, -1);
      } else if (written < 0 && errno != EINTR) {
        return errno;
      }
      if (written > 0) done += written;
    }
  }
}

void StagedFile::require(int error) const {
  ensure(error == 0, "{}: cannot write: {}", target_.string(), std::strerror(error));
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  StagedFile file(path);
  file.write(0, bytes);
  file.finish();
}

void append_to_file(const fs::path& path, std::string_view bytes) {
  const Unbroken whole;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  int error = file < 0 ? errno : write_all(file, bytes, 0);  // O_APPEND: at the end
  if (const int closing = file < 0 ? 0 : flush_and_close(file); error == 0) error = closing;
  ensure(error == 0, "{}: cannot write: {}", path.string(), std::strerror(error));
}

void remove_abandoned_writes(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> abandoned;
  for (const auto& entry : fs::directory_iterator(folder, failure))
    if (is_abandoned(entry)) abandoned.push_back(entry.path());
  for (const auto& path : abandoned) fs::remove(path, failure);
}

nlohmann::json read_json(const fs::path& path) {
  const auto text = read_file(path);
  try {
    return unsealed(nlohmann::json::parse(text), path.string());
  } catch (const nlohmann::json::exception& problem) {
    throw Error(fmt::format("{}: not valid JSON: {}", path.string(), reason_in(problem)));
  }
}

// "[json.exception.parse_error.101] parse error at line 1, ..." -> "parse error at line 1, ..."
std::string reason_in(const nlohmann::json::exception& problem) {
  const std::string text = problem.what();
  const auto code = text.find("] ");
  return text.starts_with('[') && code != std::string::npos ? text.substr(code + 2) : text;
}

namespace {

std::string file_text(const nlohmann::json& json) {
  return json_text(json, 1) + "\n";
}

}  // namespace

void write_json_atomically(const fs::path& path, const nlohmann::json& json) {
  write_file_atomically(path, file_text(json));
}

nlohmann::json sealed(nlohmann::json object) {
  if (!object.is_object()) return object;
  expects(!object.contains(kSeal), "it is sealed already");
  auto seal = content_hash(json_text(object));
  object[kSeal] = std::move(seal);
  return object;
}

nlohmann::json unsealed(nlohmann::json json, std::string_view place) {
  if (!json.is_object()) return json;
  const auto found = json.find(kSeal);
  if (found == json.end()) return json;
  const auto seal = std::move(*found);
  json.erase(found);
  ensure(seal == content_hash(json_text(json)),
         "{}: contents do not match their checksum; the file is damaged (or was changed by hand: "
         "then take '{}' out of it)",
         place, kSeal);
  return json;
}

void write_sealed_json(const fs::path& path, const nlohmann::json& object) {
  write_json_atomically(path, sealed(object));
}

bool write_new_sealed_json(const fs::path& path, const nlohmann::json& object) {
  StagedFile file(path);
  file.write(0, file_text(sealed(object)));
  return file.finish_as_new();
}

void make_writable_folder(const fs::path& folder) {
  ensure(!folder.empty(), "the name of the folder to write is empty");
  std::error_code failure;
  fs::create_directories(folder, failure);
  ensure(!failure, "{}: cannot create this folder: {}", folder.string(), failure.message());
  ensure(fs::is_directory(folder), "{}: exists and is not a folder", folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(fmt::format("{}: cannot write into this folder: {}", folder.string(),
                            std::strerror(errno)));
  }
}

void make_room_for(const fs::path& file) {
  std::error_code failure;
  if (!fs::is_symlink(file, failure) && !is_stream(file))
    make_writable_folder(fs::absolute(file).parent_path());
}

std::string content_hash(std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.text();
}

void ContentHash::add(std::string_view bytes) {
  uint64_t hash = hash_;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  hash_ = hash;
}

std::string ContentHash::text() const {
  return fmt::format("{:016x}", hash_);
}

}  // namespace partwise
