#pragma once

#include "partwise/base/error.h"
#include "partwise/base/json_text.h"
#include "partwise/base/names.h"
#include "partwise/base/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace partwise {

// An option with a fixed list of words is an enum; its words, in the order of the values, are one
// table beside it:
//   enum class Tip { round, flat };
//   template <>
//   inline constexpr auto kWords<Tip> = words("round", "flat");
template <typename Enum>
inline constexpr std::array<std::string_view, 0> kWords{};

template <typename... Word>
constexpr auto words(Word... word) {
  return std::array<std::string_view, sizeof...(word)>{word...};
}

template <typename Enum>
constexpr const auto& word_table() {
  static_assert(!kWords<Enum>.empty(), "include the header that holds this enum's kWords");
  return kWords<Enum>;
}

template <typename Enum>
std::vector<std::string> words_of() {
  return {word_table<Enum>().begin(), word_table<Enum>().end()};
}

template <typename Enum>
std::string word_of(Enum value) {
  return std::string(word_table<Enum>().at(static_cast<std::size_t>(value)));
}

template <typename Enum>
std::vector<Enum> values_of() {
  std::vector<Enum> values;
  for (std::size_t i = 0; i < word_table<Enum>().size(); ++i)
    values.push_back(static_cast<Enum>(i));
  return values;
}

// Another word is an Error that lists the valid ones.
template <typename Enum>
Enum from_word(std::string_view kind, std::string_view word) {
  return static_cast<Enum>(index_of_name(kind, word, words_of<Enum>()));
}

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

template <typename Owner, typename T>
Field(const char*, T Owner::*, const char*) -> Field<Owner, T>;

// The valid words of a field; empty where there is no list.
template <typename Owner, typename T>
std::vector<std::string> choices_of(const Field<Owner, T>& field) {
  if constexpr (std::is_enum_v<T>) {
    return words_of<T>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return field.choices;
  } else {
    return {};
  }
}

// As it stands in JSON and on the command line: an enum is its word.
template <typename T>
auto plain_value(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return word_of(value);
  } else {
    return value;
  }
}

template <typename Options, typename Visit>
void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Options::fields());
}

template <typename Options>
void validate(const Options& options) {
  for_each_field<Options>([&](const auto& field) {
    const auto& value = options.*field.member;
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_enum_v<T>) {
      return;  // cannot be anything else
    } else if constexpr (std::is_same_v<T, std::string>) {
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
  for_each_field<Options>(
      [&](const auto& field) { json[field.name] = plain_value(options.*field.member); });
  return json;
}

// Overwrites the fields named in `json`; a key that is no field, a value of the wrong type, or text
// that no options.json could hold, is an Error that names `place` (the file it came from).
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
      const bool fits = std::is_same_v<T, std::string> || std::is_enum_v<T> ? value.is_string()
                        : std::is_same_v<T, bool>                           ? value.is_boolean()
                        : std::is_integral_v<T> ? value.is_number_integer()
                                                : value.is_number();
      ensure(fits, "{}: {} = {} has the wrong type", place, key, json_text(value));
      if constexpr (std::is_enum_v<T>) {
        options.*field.member = from_word<T>(key, value.template get<std::string>());
      } else {
        options.*field.member = value.template get<T>();
      }
      if constexpr (std::is_same_v<T, std::string>)
        ensure(is_utf8(options.*field.member), "{}: {} = {} is not UTF-8; rename it", place, key,
               json_text(value));
    });
  }
  validate(options);
}

}  // namespace partwise
