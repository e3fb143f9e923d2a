#include "partwise/base/file_bytes.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace partwise {

FileBytes map_file(const std::filesystem::path& path) {
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

}  // namespace partwise
