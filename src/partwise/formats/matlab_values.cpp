#include "partwise/base/error.h"
#include "partwise/base/utf8.h"
#include "partwise/formats/byte_cursor.h"
#include "partwise/formats/matlab.h"

#include <utility>

namespace partwise::formats {
namespace {

using Kind = MatlabValue::Kind;

constexpr int kDeepestValue = 40;  // more than any reader of ours goes
constexpr std::size_t kMostValueExtents = 64;
constexpr std::size_t kMostValueMemory = std::size_t{1} << 32U;

// Of one value: kind, type, extents, bytes, text, fields, items; numbers are 64 bits wide.
class ValueWriter {
 public:
  explicit ValueWriter(const HandOver& write) : write_(write) {}

  void number(uint64_t value) { write_({reinterpret_cast<const char*>(&value), sizeof value}); }
  void bytes(std::string_view text) {
    number(text.size());
    if (!text.empty()) write_(text);
  }
  void value(const MatlabValue& given) {
    number(static_cast<uint64_t>(given.kind));
    number(static_cast<uint64_t>(given.dtype));
    number(given.extents.size());
    for (const auto extent : given.extents) number(extent);
    bytes(given.bytes);
    bytes(given.text);
    number(given.fields.size());
    for (const auto& field : given.fields) bytes(field);
    number(given.items.size());
    for (const auto& item : given.items) value(item);
  }

 private:
  const HandOver& write_;
};

class ValueReader {
 public:
  explicit ValueReader(const FileBytes& file) : file_(file), cursor_(file.bytes, file.name) {}

  MatlabVariables variables() {
    MatlabVariables all;
    while (cursor_.position() < file_.bytes.size()) {
      auto name = text();
      auto read = value(0);
      const bool fresh = all.emplace(std::move(name), std::move(read)).second;
      require(fresh, "a variable occurs twice");
    }
    return all;
  }

 private:
  void require(bool condition, const char* what) const {
    ensure(condition, "{}: damaged or hostile MATLAB 7.3 file: {}", file_.name, what);
  }

  void charge(std::size_t bytes) {
    ensure(bytes <= budget_, "{}: too large: its values take more than {} bytes", file_.name,
           kMostValueMemory);
    budget_ -= bytes;
  }

  // A number of things that follow, each at least eight bytes.
  std::size_t count() {
    const auto number = cursor_.read<uint64_t>();
    require(number <= (file_.bytes.size() - cursor_.position()) / sizeof number,
            "it promises more than it holds");
    return number;
  }

  template <typename Choice>
  Choice choice(Choice last) {
    const auto number = cursor_.read<uint64_t>();
    require(number <= static_cast<uint64_t>(last), "an unknown kind of value");
    return static_cast<Choice>(number);
  }

  std::string_view bytes() { return cursor_.take(cursor_.read<uint64_t>()); }

  std::string text() {
    const auto found = bytes();
    charge(found.size());
    require(is_utf8(found), "a text is not UTF-8");
    return std::string(found);
  }

  MatlabValue value(int depth) {
    require(depth < kDeepestValue, "nested too deep");
    charge(sizeof(MatlabValue));
    MatlabValue read;
    read.kind = choice(Kind::other);
    read.dtype = choice(Dtype::boolean);
    const auto extents = count();
    require(extents <= kMostValueExtents, "too many extents");
    read.extents.resize(extents);
    for (auto& extent : read.extents) extent = cursor_.read<uint64_t>();
    read.bytes = bytes();
    if (!read.bytes.empty()) read.owner = file_.owner;
    read.text = text();
    const auto fields = count();
    charge(fields * sizeof(std::string));
    for (std::size_t i = 0; i < fields; ++i) read.fields.push_back(text());
    const auto items = count();
    require_sense(read, items);
    for (std::size_t i = 0; i < items; ++i) read.items.push_back(value(depth + 1));
    return read;
  }

  // What one kind of value holds, and that it is as much as the extents say.
  void require_sense(const MatlabValue& read, std::size_t items) const {
    const auto found = product(read.extents);
    require(found.has_value(), "extents beyond 64 bits");
    const bool numbers = read.kind == Kind::numbers;
    const bool structure = read.kind == Kind::structure && !read.fields.empty();
    const bool elements = numbers || structure || read.kind == Kind::cell;
    require(!elements || *found <= file_.bytes.size(), "extents beyond what it holds");
    require(read.bytes.size() == (numbers ? *found * size_of(read.dtype) : 0),
            "not as many numbers as it says");
    require(read.kind == Kind::text || read.text.empty(), "a text where none belongs");
    require(structure || read.fields.empty(), "fields where none belong");
    const auto wanted = structure ? read.fields.size() * *found : elements && !numbers ? *found : 0;
    require(items == wanted, "not as many elements as it says");
  }

  const FileBytes& file_;
  ByteCursor cursor_;
  std::size_t budget_ = kMostValueMemory;
};

}  // namespace

void hand_over(const std::string& name, const MatlabValue& value, const HandOver& write) {
  ValueWriter writer(write);
  writer.bytes(name);
  writer.value(value);
}

MatlabVariables values_handed_over(const FileBytes& bytes) {
  return ValueReader(bytes).variables();
}

}  // namespace partwise::formats
