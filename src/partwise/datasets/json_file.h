#pragma once

#include "partwise/base/file_bytes.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace partwise::datasets {

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

}  // namespace partwise::datasets
