#pragma once

#include <span>
#include <string_view>

namespace partwise::server {

// One file of the built page (web/dist), as it was when the program was built.
struct PageFile {
  std::string_view name;
  std::string_view bytes;
};
std::span<const PageFile> page_files();

}  // namespace partwise::server
