#include "partwise/datasets/crop_cache.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'p', 'w', 'c', 'r', 'o', 'p', 's', '1'};
constexpr std::size_t kAlignment = 4096;
constexpr auto kFinished = ".crops";
constexpr auto kStaged = ".part";
constexpr auto kPatience = std::chrono::seconds(60);  // without progress of the one who prepares
constexpr auto kGlance = std::chrono::milliseconds(50);

// The file: this, a hash of each row, zeros up to a whole page, the rows.
struct Header {
  char magic[8] = {};
  RowsKey key;
  uint64_t hashes = 0;  // hash of the hashes
};

// Not the world's fault and not ours: the crops are simply not cached.
class Uncached : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
void require(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw Uncached(fmt::format(message, std::forward<Args>(args)...));
}

template <typename T>
std::span<const uint8_t> bytes_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const uint8_t*>(values), count * sizeof(T)};
}

std::size_t rows_offset(const RowsKey& key) {
  const auto before = sizeof(Header) + static_cast<std::size_t>(key.rows) * sizeof(uint64_t);
  return (before + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t file_size(const RowsKey& key) {
  return rows_offset(key) + static_cast<std::size_t>(key.rows * key.row_bytes);
}

std::string file_stem(const RowsKey& key) {
  const auto hash = quick_hash(bytes_of(&key, 1));
  return fmt::format("{:016x}", hash);
}

// Whole, and nobody else's: the files this program may remove.
bool is_ours(const fs::path& path, const char* extension) {
  const auto stem = path.stem().string();
  return path.extension() == extension && stem.size() == 16 &&
         stem.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The rows of a finished file; nothing when there is none. A damaged one is named and removed.
std::optional<RowBytes> open_finished(const fs::path& path, const RowsKey& key, int threads) {
  std::error_code absent;
  if (!fs::exists(path, absent)) return std::nullopt;
  FileBytes file;
  try {
    file = map_file(path);
  } catch (const Error& problem) {
    throw Uncached(problem.what());
  }
  Header header;
  std::atomic<bool> sound = file.bytes.size() == file_size(key);
  const auto* start = reinterpret_cast<const uint8_t*>(file.bytes.data());
  if (sound) {
    std::memcpy(&header, start, sizeof header);
    const auto* hashes = reinterpret_cast<const uint64_t*>(start + sizeof header);
    sound = std::equal(std::begin(kMagic), std::end(kMagic), header.magic) &&
            std::memcmp(&header.key, &key, sizeof key) == 0 &&
            header.hashes == quick_hash(bytes_of(hashes, static_cast<std::size_t>(key.rows)));
    parallel_for(sound ? key.rows : 0, threads, [&](int64_t row) {
      const auto* bytes = start + rows_offset(key) + row * key.row_bytes;
      if (quick_hash({bytes, static_cast<std::size_t>(key.row_bytes)}) != hashes[row])
        sound = false;
    });
  }
  if (!sound) {
    say(fmt::format("partwise: {}: damaged; preparing it again", path.string()));
    fs::remove(path, absent);
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now: evicted last
  return RowBytes{{start + rows_offset(key), static_cast<std::size_t>(key.rows * key.row_bytes)},
                  std::move(file.owner)};
}

// Whether `file` still is what lies at `path`: whoever was faster may have renamed or removed it.
bool lies_at(const Descriptor& file, const fs::path& path) {
  struct stat open {};
  struct stat there {};
  return ::fstat(file.number(), &open) == 0 && ::stat(path.c_str(), &there) == 0 &&
         open.st_ino == there.st_ino && open.st_dev == there.st_dev;
}

// How far the one who holds the lock has come.
std::chrono::nanoseconds last_change(const Descriptor& file) {
  struct stat status {};
  ::fstat(file.number(), &status);
  return std::chrono::seconds(status.st_mtim.tv_sec) +
         std::chrono::nanoseconds(status.st_mtim.tv_nsec);
}

// The staged file, locked; nothing once another process has finished it. The lock lies on the file
// itself and the kernel drops it with its holder, so nothing is left behind and nobody waits for
// the dead.
std::optional<Descriptor> lock_staged(const fs::path& staged, const fs::path& finished) {
  using Clock = std::chrono::steady_clock;
  auto changed = std::chrono::nanoseconds(0);
  auto seen = Clock::now();
  bool told = false;
  for (;;) {
    Descriptor file(::open(staged.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    require(file.open(), "{}: cannot write: {}", staged.string(), std::strerror(errno));
    if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
      if (!lies_at(file, staged)) continue;
      std::error_code absent;
      if (!fs::exists(finished, absent)) return file;
      ::unlink(staged.c_str());
      return std::nullopt;
    }
    require(errno == EWOULDBLOCK || errno == EINTR, "{}: cannot lock: {}", staged.string(),
            std::strerror(errno));
    if (!std::exchange(told, true)) say("another process is preparing these crops; waiting ...");
    if (interrupt_requested()) throw Interrupted("interrupted while waiting for prepared crops");
    if (const auto now = last_change(file); now != changed) {
      changed = now;
      seen = Clock::now();
    }
    require(Clock::now() - seen < kPatience, "{}: the process that prepares it has stopped",
            staged.string());
    std::this_thread::sleep_for(kGlance);
  }
}

// Removes what was used longest ago until `needed` more bytes fit below the limit. A staged file
// that nobody has locked was left by a process that died.
void make_room(const CropCache& cache, int64_t needed) {
  struct Kept {
    fs::path path;
    fs::file_time_type used;
    int64_t size = 0;
  };
  std::vector<Kept> kept;
  int64_t total = needed;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(cache.folder, gone)) {
    if (is_ours(entry.path(), kStaged)) {
      const Descriptor file(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
      if (file.open() && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0 &&
          lies_at(file, entry.path())) {
        ::unlink(entry.path().c_str());
      }
    }
    if (!is_ours(entry.path(), kFinished)) continue;
    const auto size = static_cast<int64_t>(entry.file_size(gone));
    if (gone) continue;
    kept.push_back({entry.path(), entry.last_write_time(gone), size});
    total += size;
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  for (const auto& file : kept) {
    if (total <= cache.limit) break;
    fs::remove(file.path, gone);
    total -= file.size;
  }
}

void write_at(const Descriptor& file,
              std::span<const uint8_t> bytes,
              std::size_t offset,
              const fs::path& path) {
  const int error =
      write_all(file.number(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, offset);
  require(error == 0, "{}: cannot write: {}", path.string(), std::strerror(error));
}

// The whole file is reserved first: a full disk shows before the work, not after it.
void write_rows(const Descriptor& file,
                const fs::path& path,
                const RowsKey& key,
                int threads,
                const FillRow& fill) {
  require(::ftruncate(file.number(), 0) == 0, "{}: cannot write: {}", path.string(),
          std::strerror(errno));
  const int full = ::posix_fallocate(file.number(), 0, static_cast<off_t>(file_size(key)));
  require(full == 0, "{}: no room for {} MB: {}", path.string(), file_size(key) / 1'000'000,
          std::strerror(full));
  std::vector<uint64_t> hashes(static_cast<std::size_t>(key.rows));
  Progress progress("preparing", key.rows, "crops");
  parallel_for(key.rows, threads, [&](int64_t row) {
    if (interrupt_requested()) throw Interrupted("interrupted while preparing crops");
    thread_local std::vector<uint8_t> bytes;
    bytes.resize(static_cast<std::size_t>(key.row_bytes));
    fill(row, bytes);
    hashes[static_cast<std::size_t>(row)] = quick_hash(bytes);
    write_at(file, bytes, rows_offset(key) + static_cast<std::size_t>(row * key.row_bytes), path);
    progress.advance();
  });
  Header header{{}, key, quick_hash(bytes_of(hashes.data(), hashes.size()))};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  write_at(file, bytes_of(hashes.data(), hashes.size()), sizeof header, path);
  write_at(file, bytes_of(&header, 1), 0, path);
}

RowBytes prepare(const CropCache& cache, const RowsKey& key, int threads, const FillRow& fill) {
  const auto size = static_cast<int64_t>(file_size(key));
  require(size <= cache.limit, "these crops take {} MB, the cache holds {} MB (--cache-limit)",
          size / 1'000'000, cache.limit / 1'000'000);
  try {
    make_writable_folder(cache.folder);
  } catch (const Error& problem) {
    throw Uncached(problem.what());
  }
  const auto finished = cache.folder / (file_stem(key) + kFinished);
  const auto staged = cache.folder / (file_stem(key) + kStaged);
  for (;;) {
    if (auto rows = open_finished(finished, key, threads)) return *rows;
    const auto file = lock_staged(staged, finished);
    if (!file) continue;
    try {
      make_room(cache, size);
      write_rows(*file, staged, key, threads, fill);
      auto rows = open_finished(staged, key, threads);  // before anybody could evict it
      require(rows.has_value() && ::rename(staged.c_str(), finished.c_str()) == 0,
              "{}: cannot be read back", staged.string());
      return *rows;
    } catch (...) {
      ::unlink(staged.c_str());
      throw;
    }
  }
}

}  // namespace

fs::path default_cache_folder() {
  const auto* base = std::getenv("XDG_CACHE_HOME");
  if (base != nullptr && fs::path(base).is_absolute()) return fs::path(base) / "partwise";
  const auto* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? fs::path(home) / ".cache" / "partwise" : fs::path();
}

std::optional<RowBytes> cached_rows(const CropCache& cache,
                                    const RowsKey& key,
                                    int threads,
                                    const FillRow& fill) {
  if (cache.folder.empty() || cache.limit <= 0 || key.rows <= 0) return std::nullopt;
  try {
    return prepare(cache, key, threads, fill);
  } catch (const Uncached& reason) {
    say(fmt::format("partwise: going on without the cache: {}", reason.what()));
    return std::nullopt;
  }
}

// Eight bytes per step; the multiplication spreads each into the bits above it, the shift back
// down.
uint64_t quick_hash(std::span<const uint8_t> bytes, uint64_t seed) {
  uint64_t hash = mix64(seed ^ bytes.size());
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, &bytes[at], 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32U;
  }
  uint64_t rest = 0;
  if (at < bytes.size()) std::memcpy(&rest, &bytes[at], bytes.size() - at);
  return mix64(hash ^ rest);
}

}  // namespace partwise::datasets
