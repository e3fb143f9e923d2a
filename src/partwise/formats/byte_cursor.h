#pragma once

#include "partwise/base/error.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace partwise::formats {

// Reads little-endian numbers one after the other and never beyond the end: an Error that begins
// with `place` says where the bytes ran out.
class ByteCursor {
 public:
  ByteCursor(std::string_view bytes, std::string place) : bytes_(bytes), place_(std::move(place)) {}

  std::string_view take(uint64_t count) {
    ensure(count <= bytes_.size() - position_,
           "{}: damaged or truncated: {} more bytes expected at byte {} of {}", place_, count,
           position_, bytes_.size());
    const auto taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  template <typename Number>
  Number read() {
    static_assert(std::endian::native == std::endian::little);
    Number number;
    std::memcpy(&number, take(sizeof number).data(), sizeof number);
    return number;
  }

  // Up to and without the next line feed, which is skipped.
  std::string_view line() {
    const auto end = bytes_.find('\n', position_);
    ensure(end != std::string_view::npos, "{}: damaged: a line without an end at byte {}", place_,
           position_);
    const auto text = take(end - position_);
    take(1);
    return text;
  }

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  std::string_view bytes_;
  std::string place_;
  std::size_t position_ = 0;
};

}  // namespace partwise::formats
