#include "partwise/formats/safetensors.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/printable.h"
#include "partwise/formats/byte_cursor.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <tuple>

namespace partwise::formats {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own cap
constexpr int kHeaderDepth = 3;               // header, entry, shape
constexpr std::size_t kMaxRank = 64;
constexpr auto kMetadata = "__metadata__";
constexpr auto kHash = "content_hash";
constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kLengthSize = sizeof(uint64_t);

json parse_header(std::string_view text, const std::string& place) {
  // nlohmann keeps the last of two equal keys; a stranger's reader may keep the first.
  std::vector<std::set<std::string>> seen;  // at each depth
  const auto check = [&](int depth, json::parse_event_t event, const json& parsed) {
    ensure(depth <= kHeaderDepth, "nested too deeply");
    if (event == json::parse_event_t::object_start) {
      seen.resize(static_cast<std::size_t>(depth) + 1);
      seen.back().clear();
    }
    if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      ensure(seen.at(static_cast<std::size_t>(depth) - 1).insert(key).second,
             "the name {} occurs twice", printable(key));
    }
    return true;
  };
  try {
    auto header = json::parse(text, check);
    ensure(header.is_object(), "it is no object");
    return header;
  } catch (const json::exception& problem) {
    throw Error(fmt::format("{}: damaged safetensors header: {}", place,
                            printable(reason_in(problem), 200)));
  } catch (const Error& problem) {
    throw Error(fmt::format("{}: damaged safetensors header: {}", place, problem.what()));
  }
}

struct Entry {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Unsigned and no larger than an int64, as a file can hold no more.
int64_t natural(const json& number, const std::string& place) {
  ensure(number.is_number_unsigned() && number.get<uint64_t>() <= uint64_t{1} << 62U,
         "{}: {} is no size", place, printable(number.dump(), 40));
  return number.get<int64_t>();
}

Entry read_entry(const std::string& name, const json& description, const std::string& place) {
  Entry entry;
  entry.name = name;
  const auto field = [&](const char* key) -> const json& {
    ensure(description.is_object() && description.contains(key), "{}: no {} in the header", place,
           key);
    return description[key];
  };
  const auto& dtype = field("dtype");
  const auto known = dtype.is_string() ? dtype_named(dtype.get<std::string>()) : std::nullopt;
  ensure(known.has_value(), "{}: type {} is not supported", place, printable(dtype.dump(), 40));
  entry.dtype = *known;
  const auto& shape = field("shape");
  ensure(shape.is_array() && shape.size() <= kMaxRank, "{}: its shape is no short list", place);
  for (const auto& extent : shape) entry.shape.push_back(natural(extent, place));
  const auto& offsets = field("data_offsets");
  ensure(offsets.is_array() && offsets.size() == 2, "{}: its data_offsets are no pair", place);
  entry.begin = static_cast<uint64_t>(natural(offsets[0], place));
  entry.end = static_cast<uint64_t>(natural(offsets[1], place));
  const auto needed = byte_count(entry.dtype, entry.shape);
  ensure(needed && entry.begin <= entry.end && *needed == entry.end - entry.begin,
         "{}: {} {} does not fill bytes {} to {}", place, name_of(entry.dtype),
         shape_text(entry.shape), entry.begin, entry.end);
  return entry;
}

// In the order of the file, where each byte of the data belongs to exactly one array.
void put_in_order(std::vector<Entry>& entries, uint64_t size, const std::string& place) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t end = 0;
  for (const auto& entry : entries) {
    ensure(entry.end <= size,
           "{}: array {} ends at byte {} of {} bytes of data; the file is truncated", place,
           printable(entry.name), entry.end, size);
    ensure(entry.begin == end, "{}: array {} begins at byte {} of the data, expected {} ({})",
           place, printable(entry.name), entry.begin, end, entry.begin < end ? "overlap" : "gap");
    end = entry.end;
  }
  ensure(end == size, "{}: {} bytes of data belong to no array", place, size - end);
}

void read_metadata(const json& description, NamedArrays& into, const std::string& place) {
  ensure(description.is_object(), "{}: {} is no object", place, kMetadata);
  for (const auto& [key, value] : description.items()) {
    ensure(value.is_string(), "{}: metadata {} is no text", place, printable(key));
    into.metadata[key] = value.get<std::string>();
  }
}

// How long the header is, from the first bytes of a file of `size` bytes.
uint64_t header_length(std::string_view first, uint64_t size, const std::string& place) {
  ensure(size >= kLengthSize, "{}: not a safetensors file (only {} bytes)", place, size);
  const auto length = ByteCursor(first, place).read<uint64_t>();
  ensure(length <= kMaxHeader && length <= size - kLengthSize,
         "{}: not a safetensors file, or truncated (header of {} bytes in a file of {})", place,
         length, size);
  return length;
}

struct Header {
  NamedArrays file;  // without bytes
  std::vector<Entry> entries;
};

Header read_header(std::string_view text, uint64_t data_size, const std::string& place) {
  Header header;
  header.file.format = "safetensors";
  const auto parsed = parse_header(text, place);
  for (const auto& [name, description] : parsed.items()) {
    if (name == kMetadata) {
      read_metadata(description, header.file, place);
      continue;
    }
    header.entries.push_back(
        read_entry(name, description, fmt::format("{}: array {}", place, printable(name))));
    const auto& entry = header.entries.back();
    header.file.arrays[name] = {entry.dtype, entry.shape, {}, nullptr};
  }
  put_in_order(header.entries, data_size, place);
  return header;
}

void check_hash(const NamedArrays& file, const std::string& hash, const std::string& place) {
  const auto stated = file.metadata.find(kHash);
  ensure(stated == file.metadata.end() || stated->second == hash,
         "{}: contents do not match their checksum; the file is damaged", place);
}

std::string_view data_of(const FileBytes& file) {
  return file.bytes.substr(kLengthSize + header_length(file.bytes, file.bytes.size(), file.name));
}

}  // namespace

NamedArrays parse_safetensors_header(const FileBytes& file) {
  const auto data = data_of(file);
  const auto length = file.bytes.size() - kLengthSize - data.size();
  auto header = read_header(file.bytes.substr(kLengthSize, length), data.size(), file.name);
  for (const auto& entry : header.entries) {
    auto& array = header.file.arrays.at(entry.name);
    array.bytes = data.substr(entry.begin, entry.end - entry.begin);
    array.owner = file.owner;
  }
  return std::move(header.file);
}

NamedArrays parse_safetensors(const FileBytes& file) {
  auto result = parse_safetensors_header(file);
  check_hash(result, content_hash(data_of(file)), file.name);
  return result;
}

NamedArrays read_safetensors(const std::filesystem::path& path, const Memory& memory) {
  const auto place = path.string();
  ensure(std::filesystem::is_regular_file(path), "{}: no such file", place);
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  ensure(stream.good(), "{}: cannot open: {}", place, std::strerror(errno));
  const auto size = static_cast<uint64_t>(stream.tellg());
  stream.seekg(0);
  const auto read = [&](char* into, uint64_t count) {
    stream.read(into, static_cast<std::streamsize>(count));
    ensure(stream.good(), "{}: cannot be read to its end", place);
  };
  std::string text(std::min<uint64_t>(size, kLengthSize), '\0');
  read(text.data(), text.size());
  text.resize(header_length(text, size, place));
  read(text.data(), text.size());
  auto header = read_header(text, size - kLengthSize - text.size(), place);
  ContentHash hash;
  for (const auto& entry : header.entries) {  // they are all there is, one behind the other
    const auto into = memory(entry.name, header.file.arrays.at(entry.name));
    expects(into.size() == entry.end - entry.begin, "memory of the wrong size for {}", entry.name);
    read(into.data(), into.size());
    hash.add({into.data(), into.size()});
  }
  check_hash(header.file, hash.text(), place);
  return std::move(header.file);
}

struct SafetensorsLayout {
  explicit SafetensorsLayout(const NamedArrays& file) {
    header[kMetadata] = file.metadata;
    for (const auto& [name, array] : file.arrays) {
      ensure(name != kMetadata, "an array can't be called {}; rename it", kMetadata);
      order.push_back(name);
    }
    const auto width = [&](const std::string& name) { return size_of(file.arrays.at(name).dtype); };
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto& a, const auto& b) { return width(a) > width(b); });
    for (const auto& name : order) {
      const auto& array = file.arrays.at(name);
      const auto bytes = byte_count(array.dtype, array.shape);
      expects(bytes.has_value(), "array {} is larger than any file", name);
      places[name] = {size, *bytes};
      header[name] = {{"dtype", name_of(array.dtype)},
                      {"shape", array.shape},
                      {"data_offsets", {size, size + *bytes}}};
      size += *bytes;
    }
    data_begin = head(std::string(kHashDigits, '0')).size();
  }

  // All that precedes the data, as long for any hash.
  [[nodiscard]] std::string head(const std::string& hash) const {
    auto complete = header;
    complete[kMetadata][kHash] = hash;
    std::string text = complete.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    ensure(text.size() <= kMaxHeader,
           "names and metadata take {} bytes, more than the {} of a header", text.size(),
           kMaxHeader);
    const uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
  }

  struct Place {
    uint64_t begin = 0;  // in the data
    uint64_t size = 0;
  };
  json header = json::object();
  std::vector<std::string> order;
  std::map<std::string, Place> places;
  uint64_t size = 0;
  uint64_t data_begin = 0;
};

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path, const NamedArrays& file)
    : layout_(std::make_shared<const SafetensorsLayout>(file)), file_(path) {}

const std::vector<std::string>& SafetensorsWriter::order() const {
  return layout_->order;
}

void SafetensorsWriter::write(const std::string& name, uint64_t offset, std::string_view bytes) {
  const auto& place = layout_->places.at(name);
  expects(offset <= place.size && bytes.size() <= place.size - offset,
          "{} bytes at {} do not fit the {} of {}", bytes.size(), offset, place.size, name);
  const uint64_t at = place.begin + offset;
  file_.write(layout_->data_begin + at, bytes);
  in_order_ = in_order_ && at == hashed_;
  if (!in_order_) return;
  hash_.add(bytes);
  hashed_ += bytes.size();
}

void SafetensorsWriter::finish() {
  expects(!in_order_ || hashed_ == layout_->size, "only {} of {} bytes were written", hashed_,
          layout_->size);
  file_.write(0, layout_->head(in_order_ ? hash_.text() : hash_of_written()));
  file_.finish();
}

std::string SafetensorsWriter::hash_of_written() const {
  ContentHash hash;
  std::string piece(std::size_t{1} << 20U, '\0');
  for (uint64_t at = 0; at < layout_->size; at += piece.size()) {
    if (interrupt_requested()) throw Interrupted("interrupted; the file was not finished");
    piece.resize(std::min<uint64_t>(piece.size(), layout_->size - at));
    file_.read(layout_->data_begin + at, piece);
    hash.add(piece);
  }
  return hash.text();
}

void write_safetensors(const std::filesystem::path& path, const NamedArrays& file) {
  SafetensorsWriter writer(path, file);
  for (const auto& name : writer.order()) {
    const auto& array = file.arrays.at(name);
    expects(byte_count(array.dtype, array.shape) == array.bytes.size(),
            "array {} does not fill its shape", name);
    writer.write(name, 0, array.bytes);
  }
  writer.finish();
}

std::string format_safetensors(const NamedArrays& file) {
  const SafetensorsLayout layout(file);
  std::string data;
  for (const auto& name : layout.order) data += file.arrays.at(name).bytes;
  expects(data.size() == layout.size, "the arrays do not fill their shapes");
  return layout.head(content_hash(data)) + data;
}

}  // namespace partwise::formats
