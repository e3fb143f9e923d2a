#pragma once

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/formats/printable.h"
#include "partwise/formats/safetensors.h"
#include "partwise/formats/utf8.h"
#include "partwise/weights/inspect.h"

namespace partwise::fuzz {

[[noreturn]] inline void broken(const char* promise) {
  fmt::print(stderr, "broken promise: {}\n", promise);
  __builtin_trap();
}

// Whatever was read can be shown, written and read again without a change.
inline void use(const formats::NamedArrays& file) {
  const auto text = weights::summary_text(file, "fuzz");
  if (!formats::is_utf8(text)) broken("a summary is UTF-8");
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

// Any bytes are read or refused with an Error of one clean line that names the file; any other
// exception is a bug and ends the fuzzer.
template <typename Read>
int try_read(const uint8_t* data, std::size_t size, Read&& read) {
  try {
    read(bytes_in_memory("fuzz", {reinterpret_cast<const char*>(data), size}));
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.rfind("fuzz: ", 0) != 0) broken("a complaint names the file");
    if (text.size() > 1000) broken("a complaint is short");
    if (formats::printable(text, 2000) != text) broken("a complaint is one printable line");
  }
  return 0;
}

}  // namespace partwise::fuzz
