#pragma once

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/printable.h"
#include "partwise/base/utf8.h"
#include "partwise/formats/safetensors.h"
#include "partwise/weights/inspect.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace partwise::fuzz {

[[noreturn]] inline void broken(const char* promise) {
  fmt::print(stderr, "broken promise: {}\n", promise);
  __builtin_trap();
}

// Whatever was read can be shown, written and read again without a change.
inline void use(const formats::NamedArrays& file) {
  const auto text = weights::summary_text(file, "fuzz");
  if (!is_utf8(text)) broken("a summary is UTF-8");
  (void)weights::summary_json(file).dump();
  if (file.arrays.contains("__metadata__")) return;  // refused by the writer
  const auto again =
      formats::parse_safetensors(bytes_in_memory("again", formats::format_safetensors(file)));
  if (again.arrays.size() != file.arrays.size()) broken("all arrays are written");
  for (const auto& [name, array] : file.arrays) {
    const auto& back = again.arrays.at(name);
    if (back.bytes != array.bytes || back.shape != array.shape || back.dtype != array.dtype) {
      broken("arrays come back as they were");
    }
  }
}

inline std::string_view text_of(const uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Whatever is tried does, or is refused with an Error of one clean line that names the file; any
// other exception is a bug and ends the fuzzer.
template <typename Try>
int does_or_refuses(const std::string& name, Try&& attempt) {
  try {
    attempt();
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.rfind(name, 0) != 0) broken("a complaint names the file");
    if (text.size() > 1000) broken("a complaint is short");
    if (printable(text, 2000) != text) broken("a complaint is one printable line");
  }
  return 0;
}

template <typename Read>
int try_read(const uint8_t* data, std::size_t size, Read&& read) {
  return does_or_refuses("fuzz: ",
                         [&] { read(bytes_in_memory("fuzz", std::string(text_of(data, size)))); });
}

// For readers that want a file on disk: a folder of this process alone, best in memory (TMPDIR).
class ScratchFolder {
 public:
  ScratchFolder() { std::filesystem::create_directories(path_); }
  ~ScratchFolder() {
    std::error_code gone;
    std::filesystem::remove_all(path_, gone);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path put(const char* name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("partwise-fuzz-{}", ::getpid());
};

}  // namespace partwise::fuzz
