#include "partwise/base/error.h"
#include "partwise/base/printable.h"
#include "partwise/formats/byte_cursor.h"
#include "partwise/formats/convert.h"
#include "partwise/formats/matlab.h"

#include <algorithm>
#include <zlib.h>

namespace partwise::formats {
namespace {

constexpr std::size_t kHeaderSize = 128;
constexpr std::size_t kTagSize = 8;
constexpr std::size_t kMostDimensions = 32;
constexpr int kMostNesting = 32;
constexpr std::size_t kMostInflation = 16;
constexpr std::size_t kSmallFile = std::size_t{16} << 20U;

// Types of data elements.
enum Type : uint32_t {
  kInt8 = 1,
  kUint8 = 2,
  kInt16 = 3,
  kUint16 = 4,
  kInt32 = 5,
  kUint32 = 6,
  kSingle = 7,
  kDouble = 9,
  kInt64 = 12,
  kUint64 = 13,
  kMatrix = 14,
  kCompressed = 15,
  kUtf8 = 16,
  kUtf16 = 17,
};

// Classes of matrices.
enum Class : uint32_t {
  kCell = 1,
  kStruct = 2,
  kChar = 4,
  kDoubleClass = 6,
  kSingleClass = 7,
  kLastInteger = 15,
};

constexpr uint32_t kComplexFlag = 0x0800;
constexpr uint32_t kLogicalFlag = 0x0200;

std::optional<Dtype> dtype_of(uint32_t type) {
  static const std::map<uint32_t, Dtype> types{
      {kInt8, Dtype::i8},   {kUint8, Dtype::u8},   {kInt16, Dtype::i16},  {kUint16, Dtype::u16},
      {kInt32, Dtype::i32}, {kUint32, Dtype::u32}, {kSingle, Dtype::f32}, {kDouble, Dtype::f64},
      {kInt64, Dtype::i64}, {kUint64, Dtype::u64},
  };
  const auto found = types.find(type);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

struct Element {
  uint32_t type = 0;
  std::string_view bytes;
};

// A sequence of elements: the file behind its header, or the inside of a matrix.
class Elements {
 public:
  Elements(std::string_view bytes, const std::string& place)
      : cursor_(bytes, place), bytes_(bytes) {}

  [[nodiscard]] std::size_t left() const { return bytes_.size() - cursor_.position(); }

  // Data of up to four bytes share their tag; everything else is padded to eight, except
  // compressed data and whatever comes last.
  Element next() {
    const auto first = cursor_.read<uint32_t>();
    if (const uint32_t size = first >> 16U; size != 0) {
      const auto bytes = cursor_.take(4);
      ensure(size <= 4, "{}: damaged: a small element of {} bytes", cursor_.place(), size);
      return {first & 0xFFFFU, bytes.substr(0, size)};
    }
    const auto size = cursor_.read<uint32_t>();
    const Element element{first, cursor_.take(size)};
    const std::size_t padding = first == kCompressed ? 0 : (8 - size % 8) % 8;
    cursor_.take(std::min(padding, left()));
    return element;
  }

  Element next(std::initializer_list<uint32_t> types, const char* what) {
    const auto element = next();
    ensure(std::find(types.begin(), types.end(), element.type) != types.end(),
           "{}: damaged: type {} where {} should be", cursor_.place(), element.type, what);
    return element;
  }

 private:
  ByteCursor cursor_;
  std::string_view bytes_;
};

class Matlab5Reader {
 public:
  Matlab5Reader(const FileBytes& file, std::size_t most)
      : file_(file), budget_(most != 0 ? most : kSmallFile + kMostInflation * file.bytes.size()) {}

  MatlabVariables run() {
    ensure(file_.bytes.size() >= kHeaderSize, "{}: truncated MATLAB file of {} bytes", file_.name,
           file_.bytes.size());
    ensure(
        file_.bytes.substr(126, 2) == "IM",
        "{}: a MATLAB file that is big-endian or damaged; save it again on a little-endian machine",
        file_.name);
    Elements elements(file_.bytes.substr(kHeaderSize), file_.name);
    while (elements.left() > 0) {
      const auto element = elements.next({kMatrix, kCompressed}, "a variable");
      if (element.type == kMatrix) {
        read_variable(element.bytes, file_.owner);
      } else {
        const auto plain =
            std::make_shared<const std::string>(inflated(element.bytes, budget_, file_.name));
        budget_ -= plain->size();
        Elements inside(*plain, file_.name);
        read_variable(inside.next({kMatrix}, "a variable").bytes, plain);
      }
    }
    return std::move(variables_);
  }

 private:
  void read_variable(std::string_view bytes, const std::shared_ptr<const void>& owner) {
    auto [name, value] = matrix(bytes, owner, 0);
    variables_.emplace(text_from_bytes(name), std::move(value));
  }

  std::pair<std::string, MatlabValue> matrix(std::string_view bytes,
                                             const std::shared_ptr<const void>& owner,
                                             int depth) {
    ensure(depth <= kMostNesting, "{}: refused: nested more than {} deep", file_.name,
           kMostNesting);
    MatlabValue value;
    if (bytes.empty()) return {"", std::move(value)};  // MATLAB's []
    Elements parts(bytes, file_.name);
    const auto flag_bytes = parts.next({kUint32}, "array flags").bytes;
    const auto flags = ByteCursor(flag_bytes, file_.name).read<uint32_t>();
    value.extents = extents(parts.next({kInt32, kUint32}, "extents").bytes);
    const std::string name(parts.next({kInt8, kUint8, kUtf8}, "a name").bytes);
    value.owner = owner;
    const uint32_t kind = flags & 0xFFU;
    const auto count = product(value.extents);
    ensure(count.has_value(), "{}: damaged: impossible extents of {}", file_.name, printable(name));
    if (kind == kCell) {
      value.kind = MatlabValue::Kind::cell;
      read_items(value, *count, parts, depth);
    } else if (kind == kStruct) {
      value.kind = MatlabValue::Kind::structure;
      read_fields(value, parts);
      ensure(value.fields.empty() || *count <= parts.left() / kTagSize,
             "{}: damaged: {} structures in {} bytes", file_.name, *count, parts.left());
      read_items(value, value.fields.empty() ? 0 : *count * value.fields.size(), parts, depth);
    } else if (kind == kChar) {
      value.kind = MatlabValue::Kind::text;
      value.text = text(parts);
    } else if (kind >= kDoubleClass && kind <= kLastInteger && (flags & kComplexFlag) == 0) {
      value.kind = MatlabValue::Kind::numbers;
      read_numbers(value, kind, *count, parts);
      if ((flags & kLogicalFlag) != 0 && value.dtype == Dtype::u8) value.dtype = Dtype::boolean;
    } else {
      value.kind = MatlabValue::Kind::other;
    }
    return {name, std::move(value)};
  }

  [[nodiscard]] std::vector<std::size_t> extents(std::string_view bytes) const {
    ensure(bytes.size() / sizeof(int32_t) <= kMostDimensions,
           "{}: damaged: an array with {} extents", file_.name, bytes.size() / sizeof(int32_t));
    ByteCursor cursor(bytes, file_.name);
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < bytes.size() / sizeof(int32_t); ++i) {
      const auto extent = cursor.read<int32_t>();
      ensure(extent >= 0, "{}: damaged: an array of extent {}", file_.name, extent);
      result.push_back(static_cast<std::size_t>(extent));
    }
    return result;
  }

  void read_items(MatlabValue& value, std::size_t count, Elements& parts, int depth) {
    ensure(count <= parts.left() / kTagSize, "{}: damaged: {} values in {} bytes", file_.name,
           count, parts.left());
    // A value takes more memory than the eight bytes it may have here.
    const std::size_t cost = count * sizeof(MatlabValue);
    ensure(cost <= budget_, "{}: refused: it holds too many small values", file_.name);
    budget_ -= cost;
    value.items.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto inner = parts.next({kMatrix}, "a value").bytes;
      value.items.push_back(matrix(inner, value.owner, depth + 1).second);
    }
  }

  // Names of one fixed width, filled up with zeros.
  void read_fields(MatlabValue& value, Elements& parts) const {
    const auto width_bytes = parts.next({kInt32, kUint32}, "the width of field names").bytes;
    const auto width = ByteCursor(width_bytes, file_.name).read<uint32_t>();
    const auto names = parts.next({kInt8, kUint8, kUtf8}, "field names").bytes;
    if (names.empty()) return;
    ensure(width > 0 && names.size() % width == 0,
           "{}: damaged: field names of width {} in {} bytes", file_.name, width, names.size());
    for (std::size_t at = 0; at < names.size(); at += width) {
      const auto padded = names.substr(at, width);
      value.fields.emplace_back(padded.substr(0, padded.find('\0')));
    }
  }

  static std::string text(Elements& parts) {
    if (parts.left() == 0) return {};
    const auto element = parts.next({kInt8, kUint8, kUtf8, kUint16, kUtf16}, "text");
    const bool wide = element.type == kUint16 || element.type == kUtf16;
    return wide ? text_from_utf16(element.bytes) : text_from_bytes(element.bytes);
  }

  // MATLAB stores whole numbers in the narrowest type that holds them; floating-point classes get
  // their own type back.
  void read_numbers(MatlabValue& value, uint32_t kind, std::size_t count, Elements& parts) {
    if (count == 0) return;
    const auto element = parts.next();
    const auto stored = dtype_of(element.type);
    ensure(stored.has_value(), "{}: damaged: type {} where numbers should be", file_.name,
           element.type);
    ensure(element.bytes.size() / size_of(*stored) == count &&
               element.bytes.size() % size_of(*stored) == 0,
           "{}: damaged: {} bytes of {} for {} numbers", file_.name, element.bytes.size(),
           name_of(*stored), count);
    value.dtype = *stored;
    value.bytes = element.bytes;
    const auto wanted = kind == kDoubleClass   ? Dtype::f64
                        : kind == kSingleClass ? Dtype::f32
                                               : *stored;
    if (wanted == *stored) return;
    const Array narrow{*stored, {static_cast<int64_t>(count)}, element.bytes, nullptr};
    const auto wide = converted(narrow, wanted);
    value.dtype = wanted;
    value.bytes = wide.bytes;
    value.owner = wide.owner;
  }

  const FileBytes& file_;
  std::size_t budget_;
  MatlabVariables variables_;
};

}  // namespace

std::string inflated(std::string_view bytes, std::size_t limit, const std::string& place) {
  constexpr std::size_t kStep = std::size_t{1} << 20U;
  z_stream state{};
  expects(::inflateInit(&state) == Z_OK, "zlib is not the version it was built with");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&state, ::inflateEnd);
  std::string result;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t before = result.size();
    ensure(before < limit, "{}: refused: it decompresses to more than {} bytes", place, limit);
    result.resize(before + std::min({kStep + before, limit - before, kStep * 1024}));
    const std::size_t given = std::min(bytes.size(), kStep * 1024);
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    state.avail_in = static_cast<uInt>(given);
    state.next_out = reinterpret_cast<Bytef*>(result.data() + before);
    state.avail_out = static_cast<uInt>(result.size() - before);
    status = ::inflate(&state, Z_NO_FLUSH);
    bytes.remove_prefix(given - state.avail_in);
    result.resize(result.size() - state.avail_out);
    // More room helps only a stream that filled what it had.
    if (status == Z_OK && bytes.empty() && state.avail_out != 0) status = Z_BUF_ERROR;
  }
  ensure(status == Z_STREAM_END, "{}: damaged or truncated: compressed data end too early", place);
  return result;
}

MatlabVariables parse_matlab5(const FileBytes& file, std::size_t most) {
  return Matlab5Reader(file, most).run();
}

}  // namespace partwise::formats
