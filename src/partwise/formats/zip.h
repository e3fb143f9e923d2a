#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace partwise::formats {

// A zip archive as torch.save writes it: whole, in one file, entries stored without compression;
// zip64 where it is large. The central directory is believed only as far as it fits the file: no
// entry may overlap another, occur twice or differ in name from its local header.
class ZipArchive {
 public:
  // `bytes` must outlive the archive; `place` begins every complaint.
  ZipArchive(std::string_view bytes, std::string place);

  struct Entry {
    std::string_view bytes;  // as they lie in the file
    uint64_t size = 0;       // once decompressed
    uint32_t crc = 0;
    uint16_t method = 0;
    bool encrypted = false;
  };
  [[nodiscard]] const std::map<std::string, Entry, std::less<>>& entries() const {
    return entries_;
  }

  // The contents of a stored entry, checked against their CRC.
  [[nodiscard]] std::string_view contents(std::string_view name) const;

 private:
  std::string_view bytes_;
  std::string place_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace partwise::formats
