#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace partwise {

// JSON as it is printed and written, on one line or indented. It is UTF-8 whatever it holds: bytes
// that are none, as in the name of a folder, become U+FFFD.
inline std::string json_text(const nlohmann::json& value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace partwise
