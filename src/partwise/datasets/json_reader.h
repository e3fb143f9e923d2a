#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace partwise::datasets {

// Access to JSON nobody vouches for: each function gives the asked type or throws an Error that
// begins with `place` and names the field.
const nlohmann::json& member(const nlohmann::json& object, const char* key, std::string_view place);
int64_t integer_member(const nlohmann::json& object, const char* key, std::string_view place);
std::string text_member(const nlohmann::json& object, const char* key, std::string_view place);

// A missing key gives an empty list, a wrong type is an Error.
std::vector<std::string> names_member(const nlohmann::json& object,
                                      const char* key,
                                      std::string_view place);
const nlohmann::json& list_member(const nlohmann::json& object,
                                  const char* key,
                                  std::string_view place);
const nlohmann::json& object_member(const nlohmann::json& object,
                                    const char* key,
                                    std::string_view place);

int64_t integer_value(const nlohmann::json& value, std::string_view place);

// Finite, and small enough that arithmetic on coordinates can't overflow.
double coordinate_value(const nlohmann::json& value, std::string_view place);

}  // namespace partwise::datasets
