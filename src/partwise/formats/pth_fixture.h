#pragma once

// For tests and fuzz targets: .pth files put together by hand, good and bad ones.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace partwise::formats::fixture {

template <typename Number>
std::string packed(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// Writes a zip archive entry by entry; the switches make the kinds a reader must know or refuse.
class ZipWriter {
 public:
  bool zip64 = false;
  uint16_t method = 0;
  uint16_t flags = 0;
  uint32_t crc_error = 0;

  void add(const std::string& name, std::string_view contents) {
    const auto crc =
        crc_error ^ static_cast<uint32_t>(::crc32_z(
                        0, reinterpret_cast<const Bytef*>(contents.data()), contents.size()));
    const auto size = static_cast<uint32_t>(contents.size());
    const auto offset = bytes_.size();
    const auto middle = packed(flags) + packed(method) + packed(uint32_t{0}) + packed(crc);
    const auto name_size = packed(static_cast<uint16_t>(name.size()));
    bytes_ += "PK\3\4" + packed(uint16_t{20}) + middle + packed(size) + packed(size) + name_size +
              packed(uint16_t{0}) + name;
    bytes_ += contents;
    const uint32_t continued = 0xFFFFFFFF;
    const auto extra = zip64 ? packed(uint16_t{1}) + packed(uint16_t{24}) + packed(uint64_t{size}) +
                                   packed(uint64_t{size}) + packed(uint64_t{offset})
                             : std::string();
    const auto shown_size = packed(zip64 ? continued : size);
    directory_ += "PK\1\2" + packed(uint32_t{20}) + middle + shown_size + shown_size + name_size +
                  packed(static_cast<uint16_t>(extra.size())) + packed(uint16_t{0}) +
                  packed(uint64_t{0}) + packed(zip64 ? continued : static_cast<uint32_t>(offset)) +
                  name + extra;
    ++entries_;
  }

  // The archive's name of an entry that is already there, so that it occurs twice.
  void repeat_last_directory_entry() {
    const auto last = directory_.rfind("PK\1\2");
    directory_ += directory_.substr(last);
    ++entries_;
  }

  [[nodiscard]] std::string finished(const std::string& comment = "") const {
    const auto at = bytes_.size();
    auto whole = bytes_ + directory_;
    if (zip64) {
      const auto record = whole.size();
      whole += "PK\6\6" + packed(uint64_t{44}) + packed(uint32_t{45}) + packed(uint64_t{0}) +
               packed(uint64_t{entries_}) + packed(uint64_t{entries_}) +
               packed(uint64_t{directory_.size()}) + packed(uint64_t{at});
      whole += "PK\6\7" + packed(uint32_t{0}) + packed(uint64_t{record}) + packed(uint32_t{1});
    }
    const auto count = packed(zip64 ? uint16_t{0xFFFF} : entries_);
    const auto size = zip64 ? 0xFFFFFFFFU : static_cast<uint32_t>(directory_.size());
    const auto offset = zip64 ? 0xFFFFFFFFU : static_cast<uint32_t>(at);
    return whole + "PK\5\6" + packed(uint32_t{0}) + count + count + packed(size) + packed(offset) +
           packed(static_cast<uint16_t>(comment.size())) + comment;
  }

 private:
  std::string bytes_;
  std::string directory_;
  uint16_t entries_ = 0;
};

// Words of the pickle language.
inline std::string text(std::string_view value) {
  return std::string("X") + packed(static_cast<uint32_t>(value.size())) + std::string(value);
}

inline std::string integer(int32_t value) {
  return std::string("J") + packed(value);
}

inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

inline std::string tuple(const std::vector<int32_t>& values) {
  std::string words = "(";
  for (const int32_t value : values) words += integer(value);
  return words + "t";
}

inline std::string storage(const std::string& type, const std::string& key, int32_t count) {
  return "(" + text("storage") + global("torch", type) + text(key) + text("cpu") + integer(count) +
         "tQ";
}

inline std::string tensor(const std::string& storage_words,
                          int32_t offset,
                          const std::vector<int32_t>& shape,
                          const std::vector<int32_t>& strides) {
  return global("torch._utils", "_rebuild_tensor_v2") + "(" + storage_words + integer(offset) +
         tuple(shape) + tuple(strides) + "\x89" + global("collections", "OrderedDict") + ")R" +
         "tR";
}

inline std::string program(const std::string& words) {
  return "\x80\x02" + words + ".";
}

// An archive of this pickle with storage "0": the float32 numbers 0 to 11.
inline std::string pth(const std::string& pickle, const std::string& byte_order = "") {
  std::string numbers;
  for (int i = 0; i < 12; ++i) numbers += packed(static_cast<float>(i));
  ZipWriter zip;
  zip.add("net/data.pkl", pickle);
  if (!byte_order.empty()) zip.add("net/byteorder", byte_order);
  zip.add("net/data/0", numbers);
  zip.add("net/version", "3\n");
  return zip.finished();
}

}  // namespace partwise::formats::fixture
