#include "partwise/formats/zip.h"

#include "partwise/base/error.h"
#include "partwise/base/printable.h"
#include "partwise/formats/byte_cursor.h"

#include <algorithm>
#include <vector>
#include <zlib.h>

namespace partwise::formats {
namespace {

using namespace std::string_view_literals;

constexpr auto kLocalHeader = "PK\x03\x04"sv;
constexpr auto kCentralHeader = "PK\x01\x02"sv;
constexpr auto kEnd = "PK\x05\x06"sv;
constexpr auto kEnd64 = "PK\x06\x06"sv;
constexpr auto kEnd64Locator = "PK\x06\x07"sv;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kLocatorSize = 20;
constexpr std::size_t kMaxComment = 0xFFFF;
constexpr uint16_t kZip64Field = 1;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kStored = 0;

struct Directory {
  uint64_t entries = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

struct EntryHeader {
  std::string name;
  ZipArchive::Entry entry;
  uint64_t stored_size = 0;
  uint64_t offset = 0;  // of the local header
};

// What one archive's parsing shares: the bytes, and the words for a complaint.
class ZipReader {
 public:
  ZipReader(std::string_view bytes, const std::string& place) : bytes_(bytes), place_(place) {}

  // The end record is the last thing in the file but for its own comment.
  [[nodiscard]] Directory directory() const {
    ensure(bytes_.size() >= kEndSize, "{}: truncated: {} bytes are no zip archive", place_,
           bytes_.size());
    const std::size_t last = bytes_.size() - kEndSize;
    const std::size_t first = last - std::min(last, kMaxComment);
    for (std::size_t at = last + 1; at-- > first;) {
      if (bytes_.substr(at, kEnd.size()) != kEnd) continue;
      ByteCursor cursor(bytes_.substr(at), place_);
      cursor.take(kEndSize - sizeof(uint16_t));
      if (cursor.read<uint16_t>() == bytes_.size() - at - kEndSize) return directory_at(at);
    }
    throw Error(fmt::format(
        "{}: damaged or truncated: the zip archive has no end record; fetch the file again",
        place_));
  }

  [[nodiscard]] std::vector<EntryHeader> headers(const Directory& directory) const {
    ByteCursor cursor(slice(directory.offset, directory.size), place_ + ": zip directory");
    std::vector<EntryHeader> headers;
    for (uint64_t i = 0; i < directory.entries; ++i) headers.push_back(header(cursor));
    ensure(cursor.position() == directory.size, "{}: damaged: its zip directory has {} bytes left",
           place_, directory.size - cursor.position());
    return headers;
  }

  // Where the entry's bytes begin: behind its local header, whose name must agree.
  [[nodiscard]] uint64_t contents_offset(const EntryHeader& header) const {
    ensure(header.offset < bytes_.size(), "{}: damaged: zip entry {} lies outside the file", place_,
           printable(header.name));
    ByteCursor cursor(bytes_.substr(header.offset),
                      fmt::format("{}: zip entry {}", place_, printable(header.name)));
    ensure(cursor.take(4) == kLocalHeader, "{}: damaged: no zip entry {} at byte {}", place_,
           printable(header.name), header.offset);
    cursor.take(22);  // sizes may be missing here; the directory has them
    const auto name_length = cursor.read<uint16_t>();
    const auto extra_length = cursor.read<uint16_t>();
    ensure(cursor.take(name_length) == header.name, "{}: damaged: zip entry {} has two names",
           place_, printable(header.name));
    cursor.take(extra_length);
    return header.offset + cursor.position();
  }

  [[nodiscard]] std::string_view slice(uint64_t offset, uint64_t size) const {
    ensure(offset <= bytes_.size() && size <= bytes_.size() - offset,
           "{}: damaged or truncated: {} bytes at {} of {} in the zip archive", place_, size,
           offset, bytes_.size());
    return bytes_.substr(offset, size);
  }

 private:
  [[nodiscard]] Directory directory_at(std::size_t end) const {
    ByteCursor cursor(bytes_.substr(end + kEnd.size()), place_);
    const auto disk = cursor.read<uint16_t>();
    const auto directory_disk = cursor.read<uint16_t>();
    cursor.read<uint16_t>();
    const Directory directory{cursor.read<uint16_t>(), cursor.read<uint32_t>(),
                              cursor.read<uint32_t>()};
    if (end >= kLocatorSize && bytes_.substr(end - kLocatorSize, 4) == kEnd64Locator) {
      return directory64(end - kLocatorSize);
    }
    ensure(disk == 0 && directory_disk == 0, "{}: zip archives in several parts are not supported",
           place_);
    return directory;
  }

  [[nodiscard]] Directory directory64(std::size_t locator) const {
    ByteCursor pointer(bytes_.substr(locator + 8, 8), place_);
    const auto at = pointer.read<uint64_t>();
    ByteCursor cursor(slice(at, 56), place_);
    ensure(cursor.take(4) == kEnd64, "{}: damaged: no zip64 record at byte {}", place_, at);
    cursor.take(12);
    const auto disk = cursor.read<uint32_t>();
    const auto directory_disk = cursor.read<uint32_t>();
    ensure(disk == 0 && directory_disk == 0, "{}: zip archives in several parts are not supported",
           place_);
    cursor.read<uint64_t>();
    return {cursor.read<uint64_t>(), cursor.read<uint64_t>(), cursor.read<uint64_t>()};
  }

  static EntryHeader header(ByteCursor& cursor) {
    ensure(cursor.take(4) == kCentralHeader, "{}: damaged at its byte {}", cursor.place(),
           cursor.position());
    EntryHeader header;
    cursor.take(4);
    header.entry.encrypted = (cursor.read<uint16_t>() & kEncrypted) != 0;
    header.entry.method = cursor.read<uint16_t>();
    cursor.take(4);
    header.entry.crc = cursor.read<uint32_t>();
    header.stored_size = cursor.read<uint32_t>();
    header.entry.size = cursor.read<uint32_t>();
    const auto name_length = cursor.read<uint16_t>();
    const auto extra_length = cursor.read<uint16_t>();
    const auto comment_length = cursor.read<uint16_t>();
    cursor.take(8);
    header.offset = cursor.read<uint32_t>();
    header.name = cursor.take(name_length);
    read_zip64(header, ByteCursor(cursor.take(extra_length), cursor.place()), extra_length);
    cursor.take(comment_length);
    return header;
  }

  // 32-bit fields of all ones are continued in an extra field, in this order.
  static void read_zip64(EntryHeader& header, ByteCursor extra, std::size_t length) {
    constexpr uint64_t kContinued = 0xFFFFFFFF;
    while (length - extra.position() >= 4) {
      const auto kind = extra.read<uint16_t>();
      ByteCursor field(extra.take(extra.read<uint16_t>()), extra.place());
      if (kind != kZip64Field) continue;
      for (auto* number : {&header.entry.size, &header.stored_size, &header.offset}) {
        if (*number == kContinued) *number = field.read<uint64_t>();
      }
      return;
    }
  }

  std::string_view bytes_;
  const std::string& place_;
};

}  // namespace

ZipArchive::ZipArchive(std::string_view bytes, std::string place)
    : bytes_(bytes), place_(std::move(place)) {
  const ZipReader reader(bytes_, place_);
  const auto directory = reader.directory();
  auto headers = reader.headers(directory);
  std::sort(headers.begin(), headers.end(),
            [](const EntryHeader& a, const EntryHeader& b) { return a.offset < b.offset; });
  // Entries that share bytes are how a small archive claims to be a huge one.
  uint64_t end = 0;
  for (auto& header : headers) {
    ensure(header.offset >= end, "{}: damaged: zip entry {} overlaps another", place_,
           printable(header.name));
    const auto offset = reader.contents_offset(header);
    header.entry.bytes = reader.slice(offset, header.stored_size);
    end = offset + header.stored_size;
    ensure(entries_.emplace(header.name, header.entry).second,
           "{}: damaged: zip entry {} occurs twice", place_, printable(header.name));
  }
  ensure(end <= directory.offset, "{}: damaged: zip entries overlap the directory", place_);
}

std::string_view ZipArchive::contents(std::string_view name) const {
  const auto found = entries_.find(name);
  ensure(found != entries_.end(), "{}: damaged: no zip entry {}", place_, printable(name));
  const auto& entry = found->second;
  ensure(!entry.encrypted, "{}: zip entry {} is encrypted; unpack it and save it plain", place_,
         printable(name));
  ensure(entry.method == kStored,
         "{}: zip entry {} is compressed (method {}), as torch.save never does; load the file in "
         "PyTorch and save it again",
         place_, printable(name), entry.method);
  ensure(entry.size == entry.bytes.size(), "{}: damaged: zip entry {} has two sizes", place_,
         printable(name));
  const auto crc =
      ::crc32_z(0, reinterpret_cast<const Bytef*>(entry.bytes.data()), entry.bytes.size());
  ensure(crc == entry.crc,
         "{}: damaged: zip entry {} does not match its checksum; fetch the file again", place_,
         printable(name));
  return entry.bytes;
}

}  // namespace partwise::formats
