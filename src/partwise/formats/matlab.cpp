#include "partwise/formats/matlab.h"

#include "partwise/base/error.h"
#include "partwise/base/utf8.h"
#include "partwise/formats/convert.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace partwise::formats {
namespace {

using Kind = MatlabValue::Kind;

const MatlabValue kAbsent;
constexpr std::size_t kMostMemory = std::size_t{1} << 30U;

void append_utf8(std::string& text, uint32_t code) {
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80U) {
    add(code);
  } else if (code < 0x800U) {
    add(0xC0U | code >> 6U);
    add(0x80U | (code & 0x3FU));
  } else if (code >= 0xD800U && code < 0xE000U) {
    add('?');  // half of a pair
  } else {
    add(0xE0U | code >> 12U);
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

#ifdef PARTWISE_HDF5

// A child process reads and hands the values over: HDF5 never sees a stranger's bytes here.
MatlabVariables read_73(const std::filesystem::path& path, const std::string& only) {
  const auto handed = done_by_child(
      path.string(), [&](const HandOver& write) { read_matlab73(path, only, write); });
  ensure(handed.has_value(), "{}: damaged or hostile MATLAB 7.3 file: HDF5 crashed on it",
         path.string());
  return values_handed_over(*handed);
}

#else

MatlabVariables read_73(const std::filesystem::path& path, const std::string& /*only*/) {
  throw Error(fmt::format(
      "{}: a MATLAB 7.3 file, and this program was built without HDF5; save it in MATLAB with -v7, "
      "or build where libhdf5-dev is installed",
      path.string()));
}

#endif

MatlabVariables read_either(const std::filesystem::path& path,
                            std::size_t most,
                            const std::string& only) {
  const auto file = map_file(path);
  if (is_matlab73(file.bytes)) return read_73(path, only);
  ensure(file.bytes.starts_with("MATLAB 5"),
         "{}: not a MATLAB file of version 5 or 7.3, or a truncated one", file.name);
  return parse_matlab5(file, most);
}

}  // namespace

bool matlab73_supported() {
#ifdef PARTWISE_HDF5
  return true;
#else
  return false;
#endif
}

std::size_t MatlabValue::count() const {
  if (kind == Kind::cell) return items.size();
  return kind == Kind::structure && !fields.empty() ? items.size() / fields.size() : 0;
}

const MatlabValue& MatlabValue::cell(std::size_t index) const {
  return kind == Kind::cell && index < count() ? items[index] : kAbsent;
}

const MatlabValue& MatlabValue::field(std::string_view name, std::size_t index) const {
  const auto found = std::find(fields.begin(), fields.end(), name);
  if (kind != Kind::structure || found == fields.end() || index >= count()) return kAbsent;
  return items[index * fields.size() + static_cast<std::size_t>(found - fields.begin())];
}

std::optional<std::string> MatlabValue::as_text() const {
  return kind == Kind::text ? std::optional(text) : std::nullopt;
}

int64_t MatlabRecord::rows() const {
  const auto count = product(value_->extents);
  return value_->extents.empty() || count.value_or(0) == 0
             ? 0
             : static_cast<int64_t>(value_->extents.front());
}

int64_t MatlabRecord::columns() const {
  return rows() == 0 ? 0 : static_cast<int64_t>(*product(value_->extents)) / rows();
}

MatlabRecord MatlabRecord::field(const std::string& name, int64_t index) const {
  ensure(value_->kind == Kind::structure && index >= 0 && index < count(),
         "{}: expected a struct array with field '{}' and {} elements or more", place_, name,
         index + 1);
  const auto& fields = value_->fields;
  ensure(std::find(fields.begin(), fields.end(), name) != fields.end(), "{}: field '{}' is missing",
         place_, name);
  const auto& inner = value_->field(name, static_cast<std::size_t>(index));
  return {std::shared_ptr<const MatlabValue>(value_, &inner),
          fmt::format("{}({}).{}", place_, index + 1, name)};
}

std::string MatlabRecord::text() const {
  if (empty()) return {};
  ensure(value_->kind == Kind::text, "{}: expected text", place_);
  return value_->text;
}

std::vector<double> MatlabRecord::numbers() const {
  if (empty()) return {};
  ensure(value_->kind == Kind::numbers, "{}: expected numbers", place_);
  return doubles_of({value_->dtype, {}, value_->bytes, nullptr});
}

double MatlabRecord::number() const {
  if (const auto spelled = value_->as_text(); spelled && !empty()) {
    double value = 0.0;
    const auto* end = spelled->data() + spelled->size();
    const auto [rest, failure] = std::from_chars(spelled->data(), end, value);
    ensure(failure == std::errc() && rest == end && std::isfinite(value),
           "{}: '{}' is not a number", place_, *spelled);
    return value;
  }
  const auto all = numbers();
  ensure(all.size() == 1 && std::isfinite(all[0]), "{}: expected one number, found {}", place_,
         all.size());
  return all[0];
}

std::vector<uint8_t> MatlabRecord::mask() const {
  ensure(!empty() && value_->kind == Kind::numbers && size_of(value_->dtype) == 1,
         "{}: expected a mask", place_);
  const auto height = static_cast<std::size_t>(rows());
  const auto width = static_cast<std::size_t>(columns());
  std::vector<uint8_t> pixels(height * width);
  for (std::size_t x = 0; x < width; ++x) {
    for (std::size_t y = 0; y < height; ++y) {
      pixels[y * width + x] = value_->bytes[x * height + y] != 0 ? 1 : 0;
    }
  }
  return pixels;
}

bool is_matlab73(std::string_view bytes) {
  if (bytes.starts_with("MATLAB 7.3 ")) return true;
  const std::array<std::size_t, 4> places{0, 512, 1024, 2048};
  return std::any_of(places.begin(), places.end(), [&](std::size_t at) {
    return bytes.size() > at && bytes.substr(at).starts_with("\x89HDF\r\n\x1A\n");
  });
}

MatlabVariables read_matlab(const std::filesystem::path& path) {
  return read_either(path, 0, "");
}

MatlabRecord read_matlab(const std::filesystem::path& path, const std::string& variable) {
  ensure(std::filesystem::is_regular_file(path), "{}: no such file", path.string());
  auto variables = read_either(path, kMostMemory, variable);
  const auto found = variables.find(variable);
  ensure(found != variables.end(), "{}: holds no readable variable '{}'", path.string(), variable);
  return {std::move(found->second), fmt::format("{}: {}", path.string(), variable)};
}

std::optional<std::size_t> product(const std::vector<std::size_t>& extents) {
  std::size_t result = 1;
  for (const std::size_t extent : extents) {
    if (extent != 0 && result > std::numeric_limits<std::size_t>::max() / extent) {
      return std::nullopt;
    }
    result *= extent;
  }
  return result;
}

std::string text_from_bytes(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string text;
  for (const char byte : bytes) append_utf8(text, static_cast<unsigned char>(byte));
  return text;
}

std::string text_from_utf16(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    uint16_t code = 0;
    std::memcpy(&code, bytes.data() + i, sizeof code);
    append_utf8(text, code);
  }
  return text;
}

}  // namespace partwise::formats
