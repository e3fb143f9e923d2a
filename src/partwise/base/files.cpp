#include "partwise/base/files.h"

#include "partwise/base/error.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace partwise {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStaged = ".tmp";  // and the writer's process id

int flush_and_close(int file) {
  int error = ::fsync(file) != 0 ? errno : 0;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
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
  std::ifstream stream(path, std::ios::binary);
  ensure(stream.good(), "{}: cannot open: {}", path.string(), std::strerror(errno));
  std::string bytes(size, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(size));
  ensure(stream.gcount() == static_cast<std::streamsize>(size), "{}: ended after {} of {} bytes",
         path.string(), stream.gcount(), size);
  return bytes;
}

StagedFile::StagedFile(fs::path target)
    : target_(std::move(target)),
      staged_(target_.string() + std::string(kStaged) + std::to_string(::getpid())),
      file_(::open(staged_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (file_ < 0) require(errno);
}

StagedFile::~StagedFile() {
  if (file_ >= 0) ::close(file_);
  if (!staged_.empty()) ::unlink(staged_.c_str());
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
  require(flush_and_close(std::exchange(file_, -1)));
  require(::rename(staged_.c_str(), target_.c_str()) != 0 ? errno : 0);
  staged_.clear();
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
    const auto digits = std::string_view(name).substr(mark + kStaged.size());
    pid_t writer = 0;
    const auto [end, failure] = std::from_chars(digits.begin(), digits.end(), writer);
    if (failure != std::errc() || end != digits.end()) continue;
    if (::kill(writer, 0) != 0 && errno == ESRCH) abandoned.push_back(entry.path());
  }
  for (const auto& path : abandoned) fs::remove(path);
}

nlohmann::json read_json(const fs::path& path) {
  const auto text = read_file(path);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& problem) {
    throw Error(fmt::format("{}: not valid JSON: {}", path.string(), problem.what()));
  }
}

void write_json_atomically(const fs::path& path, const nlohmann::json& json) {
  write_file_atomically(path, json.dump(1) + "\n");
}

void make_writable_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  ensure(!failure, "{}: cannot create this folder: {}", folder.string(), failure.message());
  ensure(fs::is_directory(folder), "{}: exists and is not a folder", folder.string());
  ensure(::access(folder.c_str(), W_OK | X_OK) == 0, "{}: cannot write into this folder: {}",
         folder.string(), std::strerror(errno));
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
