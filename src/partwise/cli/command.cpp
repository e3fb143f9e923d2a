#include "partwise/cli/command.h"

#include "partwise/base/files.h"
#include "partwise/base/parallel.h"

#include <charconv>

namespace partwise::cli {

namespace fs = std::filesystem;

void add_threads(CLI::App& app, int& threads) {
  const int most = 1024;
  const auto to_cores = [most](std::string& text) {
    int asked = 0;
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, asked);
    if (read.ec == std::errc() && read.ptr == end && asked <= most)
      text = std::to_string(usable_threads(asked));
    return std::string();
  };
  app.add_option("--threads", threads, "0: all cores")
      ->capture_default_str()
      ->check(CLI::Range(0, most))
      ->transform(CLI::Validator(to_cores, ""));
}

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
