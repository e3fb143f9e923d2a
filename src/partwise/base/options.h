#pragma once

#include "partwise/base/error.h"
#include "partwise/base/names.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace partwise {

// One row of an options struct: the only place where a field's name, help and range are written.
// Command line, config file, manifest, validation and report all walk this list.
template <typename Owner, typename T>
struct Field {
  const char* name = "";
  T Owner::*member = nullptr;
  const char* help = "";
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};

// A text field; `choices` is empty (anything goes) or the whole list of valid words.
template <typename Owner>
struct Field<Owner, std::string> {
  const char* name = "";
  std::string Owner::*member = nullptr;
  const char* help = "";
  std::vector<std::string> choices;
};

template <typename Options, typename Visit>
void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Options::fields());
}

template <typename Options>
void validate(const Options& options) {
  for_each_field<Options>([&](const auto& field) {
    const auto& value = options.*field.member;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (!field.choices.empty()) index_of_name(field.name, value, field.choices);
    } else {
      ensure(field.min <= value && value <= field.max, "{} = {} is outside [{}, {}]", field.name,
             value, field.min, field.max);
    }
  });
}

template <typename Options>
nlohmann::json to_json(const Options& options) {
  nlohmann::json json = nlohmann::json::object();
  for_each_field<Options>([&](const auto& field) { json[field.name] = options.*field.member; });
  return json;
}

// Overwrites the fields named in `json`; a key that is no field, or a value of the wrong type, is
// an Error that names `place` (the file it came from).
template <typename Options>
void merge_json(Options& options, const nlohmann::json& json, std::string_view place) {
  ensure(json.is_object(), "{}: expected an object of options, found {}", place, json.type_name());
  std::vector<std::string> known;
  for_each_field<Options>([&](const auto& field) { known.emplace_back(field.name); });
  for (const auto& item : json.items()) {
    const std::string& key = item.key();
    const nlohmann::json& value = item.value();
    ensure(std::find(known.begin(), known.end(), key) != known.end(),
           "{}: unknown key '{}' (did you mean '{}'?)", place, key, nearest_name(key, known));
    for_each_field<Options>([&](const auto& field) {
      if (key != field.name) return;
      using T = std::decay_t<decltype(options.*field.member)>;
      const bool fits = std::is_same_v<T, std::string> ? value.is_string()
                        : std::is_same_v<T, bool>      ? value.is_boolean()
                        : std::is_integral_v<T>        ? value.is_number_integer()
                                                       : value.is_number();
      ensure(fits, "{}: {} = {} has the wrong type", place, key, value.dump());
      options.*field.member = value.template get<T>();
    });
  }
  validate(options);
}

}  // namespace partwise
