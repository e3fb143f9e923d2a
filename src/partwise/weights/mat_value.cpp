#include "partwise/weights/mat_value.h"

#include "partwise/weights/printable.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace partwise::weights {
namespace {

const MatValue kAbsent;

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

}  // namespace

std::size_t MatValue::count() const {
  if (kind == Kind::cell) return items.size();
  return kind == Kind::structure && !fields.empty() ? items.size() / fields.size() : 0;
}

const MatValue& MatValue::cell(std::size_t index) const {
  return kind == Kind::cell && index < count() ? items[index] : kAbsent;
}

const MatValue& MatValue::field(std::string_view name, std::size_t index) const {
  const auto found = std::find(fields.begin(), fields.end(), name);
  if (kind != Kind::structure || found == fields.end() || index >= count()) return kAbsent;
  return items[index * fields.size() + static_cast<std::size_t>(found - fields.begin())];
}

std::optional<std::string> MatValue::as_text() const {
  return kind == Kind::text ? std::optional(text) : std::nullopt;
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

}  // namespace partwise::weights
