#include "partwise/base/files.h"

#include "partwise/base/error.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace partwise {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStaged = ".tmp";  // and the writer's process id

// 0, or what went wrong.
int write_and_flush(const std::string& path, int mode, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0644);
  if (file < 0) return errno;
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) error = errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

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

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  const std::string staged = path.string() + std::string(kStaged) + std::to_string(::getpid());
  int error = write_and_flush(staged, O_TRUNC, bytes);
  if (error == 0 && ::rename(staged.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(staged.c_str());
  ensure(error == 0, "{}: cannot write: {}", path.string(), std::strerror(error));
}

void append_to_file(const fs::path& path, std::string_view bytes) {
  const int error = write_and_flush(path.string(), O_APPEND, bytes);
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
  uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace partwise
