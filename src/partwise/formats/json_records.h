#pragma once

#include "partwise/base/files.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace partwise::formats {

// A COCO-shaped JSON file: one object whose lists may be longer than memory would hold as a tree.
// The file is mapped and seen as slices of itself; one record is parsed at a time. Every complaint
// begins with the file's name.
class JsonFile {
 public:
  explicit JsonFile(const std::filesystem::path& path);

  [[nodiscard]] const std::string& place() const { return file_.name; }
  [[nodiscard]] bool contains(const std::string& key) const { return members_.contains(key); }

  // A member that is small; null when it is missing.
  [[nodiscard]] nlohmann::json value(const std::string& key) const;

  // The records of a list, in the order of the file; none when it is missing. The text may be kept
  // and parsed again as long as the file lives.
  using Visit = std::function<void(std::string_view text, const nlohmann::json& record)>;
  void for_each(const std::string& key, const Visit& visit) const;

  [[nodiscard]] nlohmann::json parse(std::string_view text) const;

 private:
  FileBytes file_;
  std::map<std::string, std::string_view> members_;
};

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

}  // namespace partwise::formats
