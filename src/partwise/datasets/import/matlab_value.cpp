#include "partwise/base/error.h"
#include "partwise/datasets/import/matlab.h"

#include <charconv>
#include <cmath>

namespace partwise::datasets {

const MatlabValue& MatlabValue::field(const char* name, int64_t index) const {
  const auto* structs = std::get_if<Structs>(&content_);
  ensure(structs != nullptr && index >= 0 && index < count(),
         "{}: expected a struct array with field '{}' and {} elements or more", place_, name,
         index + 1);
  const auto found = structs->find(name);
  ensure(found != structs->end(), "{}: field '{}' is missing", place_, name);
  return found->second.at(static_cast<std::size_t>(index));
}

std::string MatlabValue::text() const {
  if (empty()) return {};
  const auto* text = std::get_if<std::string>(&content_);
  ensure(text != nullptr, "{}: expected text", place_);
  return *text;
}

std::vector<double> MatlabValue::numbers() const {
  if (empty()) return {};
  if (const auto* bytes = std::get_if<std::vector<uint8_t>>(&content_)) {
    return {bytes->begin(), bytes->end()};
  }
  const auto* numbers = std::get_if<std::vector<double>>(&content_);
  ensure(numbers != nullptr, "{}: expected numbers", place_);
  return *numbers;
}

double MatlabValue::number() const {
  if (const auto* spelled = std::get_if<std::string>(&content_)) {
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

std::vector<uint8_t> MatlabValue::mask() const {
  const auto* bytes = std::get_if<std::vector<uint8_t>>(&content_);
  ensure(bytes != nullptr, "{}: expected a mask", place_);
  std::vector<uint8_t> pixels(bytes->size());
  for (int64_t x = 0; x < columns_; ++x) {
    for (int64_t y = 0; y < rows_; ++y) {
      const auto value = (*bytes)[static_cast<std::size_t>(x * rows_ + y)];
      pixels[static_cast<std::size_t>(y * columns_ + x)] = value != 0 ? 1 : 0;
    }
  }
  return pixels;
}

}  // namespace partwise::datasets
