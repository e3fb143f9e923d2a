#include "partwise/datasets/json_reader.h"

#include "partwise/base/error.h"

#include <cmath>
#include <limits>

namespace partwise::datasets {

using nlohmann::json;

namespace {

constexpr double kLargestCoordinate = 1e9;

std::string at(std::string_view place, const char* key) {
  return fmt::format("{}: {}", place, key);
}

// A hostile value may be megabytes long; a message is one line.
std::string excerpt(const json& value) {
  auto text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

}  // namespace

const json& member(const json& object, const char* key, std::string_view place) {
  ensure(object.is_object(), "{}: expected an object, found {}", place, object.type_name());
  const auto found = object.find(key);
  ensure(found != object.end(), "{}: '{}' is missing", place, key);
  return *found;
}

int64_t integer_value(const json& value, std::string_view place) {
  ensure(value.is_number_integer(), "{}: expected a whole number, found {}", place, excerpt(value));
  ensure(!value.is_number_unsigned() ||
             value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()},
         "{}: {} is too large", place, excerpt(value));
  return value.get<int64_t>();
}

double coordinate_value(const json& value, std::string_view place) {
  ensure(value.is_number(), "{}: expected a number, found {}", place, excerpt(value));
  const auto number = value.get<double>();
  ensure(std::isfinite(number) && std::abs(number) <= kLargestCoordinate, "{}: {} is no coordinate",
         place, excerpt(value));
  return number;
}

int64_t integer_member(const json& object, const char* key, std::string_view place) {
  return integer_value(member(object, key, place), at(place, key));
}

std::string text_member(const json& object, const char* key, std::string_view place) {
  const auto& value = member(object, key, place);
  ensure(value.is_string(), "{}: {}: expected text, found {}", place, key, excerpt(value));
  return value.get<std::string>();
}

const json& list_member(const json& object, const char* key, std::string_view place) {
  static const json empty = json::array();
  ensure(object.is_object(), "{}: expected an object, found {}", place, object.type_name());
  const auto found = object.find(key);
  if (found == object.end()) return empty;
  ensure(found->is_array(), "{}: {}: expected a list, found {}", place, key, excerpt(*found));
  return *found;
}

const json& object_member(const json& object, const char* key, std::string_view place) {
  static const json empty = json::object();
  ensure(object.is_object(), "{}: expected an object, found {}", place, object.type_name());
  const auto found = object.find(key);
  if (found == object.end()) return empty;
  ensure(found->is_object(), "{}: {}: expected an object, found {}", place, key, excerpt(*found));
  return *found;
}

std::vector<std::string> names_member(const json& object, const char* key, std::string_view place) {
  std::vector<std::string> names;
  for (const auto& name : list_member(object, key, place)) {
    ensure(name.is_string(), "{}: {}: expected names, found {}", place, key, excerpt(name));
    names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace partwise::datasets
