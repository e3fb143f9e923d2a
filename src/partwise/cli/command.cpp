#include "partwise/cli/command.h"

#include "partwise/base/files.h"

namespace partwise::cli {

namespace fs = std::filesystem;

void require_place(const std::string& file) {
  if (file.empty() || file == "-") return;
  const auto folder = fs::absolute(file).parent_path();
  ensure(fs::is_directory(folder), "{}: cannot write: there is no folder {}", file,
         folder.string());
  ensure(!fs::is_directory(file), "{}: cannot write: a folder is there", file);
}

bool write_output(const std::string& file, const std::string& text) {
  if (file.empty()) return false;
  if (file != "-") {
    write_file_atomically(file, text);
    return false;
  }
  fmt::print("{}", text);
  return true;
}

}  // namespace partwise::cli
