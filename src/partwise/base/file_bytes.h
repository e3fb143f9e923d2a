#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace partwise {

// A whole file, to be looked at. `name` stands in every complaint about it; `owner` keeps the bytes
// alive and goes into the arrays that point into them.
struct FileBytes {
  std::string name;
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

// Mapped, so that a file of gigabytes costs only the pages that are looked at. Whoever shortens
// the file meanwhile ends the program (SIGBUS); replacing it by renaming is harmless.
FileBytes map_file(const std::filesystem::path& path);

FileBytes bytes_in_memory(std::string name, std::string bytes);

}  // namespace partwise
