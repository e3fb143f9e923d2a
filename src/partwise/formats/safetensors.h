#pragma once

#include "partwise/base/files.h"
#include "partwise/formats/arrays.h"

#include <functional>

// A .safetensors file: 8 bytes little-endian header length, a JSON header, raw data. Ours carry a
// "content_hash" of the data in their metadata.
namespace partwise::formats {

// The arrays point into `file`. Refused: a header beyond the format's own cap of 100 MB, a name
// that occurs twice, a shape that disagrees with its offsets, data that overlaps, leaves a gap, is
// cut off or left over, and contents that differ from the checksum.
NamedArrays parse_safetensors(const FileBytes& file);

// The same, but for the checksum: no byte of the data is looked at.
NamedArrays parse_safetensors_header(const FileBytes& file);

// Reads the data into memory of the caller's, so that it is there once: `memory` is asked for each
// array (which has no bytes yet) where its bytes go. Gives the header; an Error is thrown where
// parse_safetensors does, for the checksum after all memory is filled.
using Memory = std::function<std::span<char>(const std::string& name, const Array& array)>;
NamedArrays read_safetensors(const std::filesystem::path& path, const Memory& memory);

struct SafetensorsLayout;

// Writes a file piece by piece, so that its data need not be in memory at once. The names, types,
// shapes and metadata of `file` make the header; its bytes are not looked at. Wide types come first
// and the data starts at a multiple of 8, so every array is aligned.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path& path, const NamedArrays& file);

  [[nodiscard]] const std::vector<std::string>& order() const;  // of the arrays in the file

  // Bytes of an array from its byte `offset` on; every byte once. Where all come in the order of
  // the file, the checksum is ready at the end; else what was written is read once more.
  void write(const std::string& name, uint64_t offset, std::string_view bytes);

  // Only now the file appears under its name. An interrupt ends the reading of what was written.
  void finish();

 private:
  [[nodiscard]] std::string hash_of_written() const;

  std::shared_ptr<const SafetensorsLayout> layout_;
  StagedFile file_;
  ContentHash hash_;
  uint64_t hashed_ = 0;  // bytes of data
  bool in_order_ = true;
};

void write_safetensors(const std::filesystem::path& path, const NamedArrays& file);

// The bytes such a file would have.
std::string format_safetensors(const NamedArrays& file);

}  // namespace partwise::formats
