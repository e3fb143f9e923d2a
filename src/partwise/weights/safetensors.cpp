#include "partwise/weights/safetensors.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/weights/byte_cursor.h"
#include "partwise/weights/printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace partwise::weights {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own cap
constexpr int kMaxDepth = 3;                  // header, entry, shape
constexpr std::size_t kMaxRank = 64;
constexpr auto kMetadata = "__metadata__";
constexpr auto kHash = "content_hash";

// nlohmann keeps the last of two equal keys; a stranger's reader may keep the first.
class KeyCheck {
 public:
  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    ensure(depth <= kMaxDepth, "nested too deeply");
    if (event == json::parse_event_t::object_start) {
      seen_.resize(static_cast<std::size_t>(depth) + 1);
      seen_.back().clear();
    }
    if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      ensure(seen_.at(static_cast<std::size_t>(depth) - 1).insert(key).second,
             "the name {} occurs twice", printable(key));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> seen_;
};

json parse_header(std::string_view text, const std::string& place) {
  try {
    KeyCheck check;
    auto header = json::parse(text, [&check](int depth, json::parse_event_t event, json& parsed) {
      return check(depth, event, parsed);
    });
    ensure(header.is_object(), "it is no object");
    return header;
  } catch (const json::exception& problem) {
    throw Error(
        fmt::format("{}: damaged safetensors header: {}", place, printable(problem.what(), 200)));
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

// Each byte of the data belongs to exactly one array.
void check_layout(std::vector<Entry> entries, uint64_t size, const std::string& place) {
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

}  // namespace

NamedArrays parse_safetensors(const FileBytes& file) {
  const auto& place = file.name;
  ByteCursor cursor(file.bytes, place);
  ensure(file.bytes.size() >= sizeof(uint64_t), "{}: not a safetensors file (only {} bytes)", place,
         file.bytes.size());
  const auto length = cursor.read<uint64_t>();
  ensure(length <= kMaxHeader && length <= file.bytes.size() - cursor.position(),
         "{}: not a safetensors file, or truncated (header of {} bytes in a file of {})", place,
         length, file.bytes.size());
  const auto header = parse_header(cursor.take(length), place);
  const auto data = file.bytes.substr(cursor.position());
  NamedArrays result;
  result.format = "safetensors";
  std::vector<Entry> entries;
  for (const auto& [name, description] : header.items()) {
    if (name == kMetadata) {
      read_metadata(description, result, place);
    } else {
      entries.push_back(
          read_entry(name, description, fmt::format("{}: array {}", place, printable(name))));
    }
  }
  check_layout(entries, data.size(), place);
  for (auto& entry : entries) {
    result.arrays[entry.name] = {entry.dtype, std::move(entry.shape),
                                 data.substr(entry.begin, entry.end - entry.begin), file.owner};
  }
  const auto hash = result.metadata.find(kHash);
  ensure(hash == result.metadata.end() || hash->second == content_hash(data),
         "{}: contents do not match their checksum; the file is damaged", place);
  return result;
}

std::string format_safetensors(const NamedArrays& file) {
  using Item = const std::pair<const std::string, Array>*;
  std::vector<Item> items;
  for (const auto& item : file.arrays) {
    ensure(item.first != kMetadata, "an array can't be called {}; rename it", kMetadata);
    items.push_back(&item);
  }
  std::stable_sort(items.begin(), items.end(), [](Item a, Item b) {
    return size_of(a->second.dtype) > size_of(b->second.dtype);
  });
  auto header = json::object();
  std::string data;
  for (const auto* item : items) {
    const auto& [name, array] = *item;
    const auto needed = byte_count(array.dtype, array.shape);
    expects(needed && *needed == array.bytes.size(), "array {} does not fill its shape", name);
    const std::size_t begin = data.size();
    data.append(array.bytes);
    header[name] = {{"dtype", name_of(array.dtype)},
                    {"shape", array.shape},
                    {"data_offsets", {begin, data.size()}}};
  }
  header[kMetadata] = file.metadata;
  header[kMetadata][kHash] = content_hash(data);
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  ensure(text.size() <= kMaxHeader,
         "names and metadata take {} bytes, more than the {} of a header", text.size(), kMaxHeader);
  const uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(text).append(data);
}

void write_safetensors(const std::filesystem::path& path, const NamedArrays& file) {
  write_file_atomically(path, format_safetensors(file));
}

}  // namespace partwise::weights
