#include "partwise/base/files.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace partwise {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStaged = ".tmp";  // and the writer
constexpr auto kSeal = "checksum";

// When a process began, in ticks since the machine started; nothing of one that has ended.
std::optional<uint64_t> beginning_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  constexpr int kState = 3;
  constexpr int kBeginning = 22;
  for (int i = kState; i <= kBeginning && fields >> field; ++i)
    if (i == kState && (field == "Z" || field == "X")) return std::nullopt;
  uint64_t ticks = 0;
  const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), ticks);
  return failure == std::errc() ? std::optional(ticks) : std::nullopt;
}

// "1234.5678": this process, and when it began, since numbers of processes come again.
std::string this_writer() {
  const auto began = beginning_of(::getpid());
  return fmt::format("{}.{}", ::getpid(), began.value_or(0));
}

// Whether whoever wrote "1234.5678" lives, or may; nothing where no writer is called so.
std::optional<bool> writer_lives(std::string_view written) {
  const char* end = written.data() + written.size();
  pid_t process = 0;
  uint64_t began = 0;
  auto read = std::from_chars(written.data(), end, process);
  if (read.ec != std::errc()) return std::nullopt;
  if (read.ptr != end && *read.ptr == '.') read = std::from_chars(read.ptr + 1, end, began);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if (::kill(process, 0) != 0 && errno == ESRCH) return false;
  if (began == 0) return true;  // an older program's
  return beginning_of(process) == began;
}

int flush_and_close(int file) {
  int error = ::fsync(file) != 0 ? errno : 0;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

constexpr int kMostLinks = 40;  // as many as Linux follows

// Neither a file nor a folder: a device, a pipe, or a link to one.
bool is_stream(const fs::path& path) {
  std::error_code failure;
  const auto status = fs::status(path, failure);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Where the links lead. Those to a stream are left to the system: /dev/stdout leads to no name.
fs::path behind_links(fs::path path) {
  if (is_stream(path)) return path;
  std::error_code failure;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, failure); ++i)
    path = path.parent_path() / fs::read_symlink(path, failure);
  return path;
}

}  // namespace

FileBytes map_file(const fs::path& path) {
  const auto name = path.string();
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  ensure(file.open(), "{}: cannot open: {}", name, std::strerror(errno));
  struct stat status {};
  ensure(::fstat(file.number(), &status) == 0, "{}: cannot read: {}", name, std::strerror(errno));
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
  const auto size = fs::file_size(path, failure);
  ensure(!failure, "{}: cannot read: {}", path.string(), failure.message());
  ensure(size <= limit, "{}: {} bytes is more than the {} accepted here", path.string(), size,
         limit);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open())
    throw Error(fmt::format("{}: cannot open: {}", path.string(), std::strerror(errno)));
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
    : target_(std::move(target)), place_(behind_links(target_)), stream_(is_stream(place_)) {
  if (stream_) {
    staged_ = (fs::temp_directory_path() / "partwise.XXXXXX").string();
    file_ = ::mkostemp(staged_.data(), O_CLOEXEC);
    if (file_ >= 0) ::unlink(staged_.c_str());  // waiting for a reader may be interrupted
    if (file_ >= 0) staged_.clear();
  } else {
    staged_ = place_.string() + std::string(kStaged) + this_writer();
    file_ = ::open(staged_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  }
  if (file_ < 0) require(errno);
  if (!stream_) Unbroken::begin();
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
}

// The whole file into the device or pipe; a pipe is waited for until somebody reads it.
int StagedFile::hand_over() const {
  const Descriptor out(::open(place_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!out.open()) return errno;
  std::vector<char> piece(std::size_t{1} << 16U);
  for (off_t at = 0;;) {
    const auto count = ::pread(file_, piece.data(), piece.size(), at);
    if (count < 0) return errno;
    if (count == 0) return 0;
    at += count;
    for (ssize_t done = 0; done < count;) {
      const auto written = ::write(out.number(), piece.data() + done, count - done);
      if (written < 0 && errno != EINTR) return errno;
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
  if (!fs::is_directory(folder)) return;
  std::vector<fs::path> abandoned;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    const auto mark = name.rfind(kStaged);
    if (mark == std::string::npos) continue;
    const auto lives = writer_lives(std::string_view(name).substr(mark + kStaged.size()));
    if (lives == false) abandoned.push_back(entry.path());
  }
  for (const auto& path : abandoned) fs::remove(path);
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

void write_json_atomically(const fs::path& path, const nlohmann::json& json) {
  write_file_atomically(path, json.dump(1) + "\n");
}

nlohmann::json sealed(nlohmann::json object) {
  if (!object.is_object()) return object;
  expects(!object.contains(kSeal), "it is sealed already");
  auto seal = content_hash(object.dump());
  object[kSeal] = std::move(seal);
  return object;
}

nlohmann::json unsealed(nlohmann::json json, std::string_view place) {
  if (!json.is_object()) return json;
  const auto found = json.find(kSeal);
  if (found == json.end()) return json;
  const auto seal = std::move(*found);
  json.erase(found);
  ensure(seal == content_hash(json.dump()),
         "{}: contents do not match their checksum; the file is damaged (or was changed by hand: "
         "then take '{}' out of it)",
         place, kSeal);
  return json;
}

void write_sealed_json(const fs::path& path, const nlohmann::json& object) {
  write_json_atomically(path, sealed(object));
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
