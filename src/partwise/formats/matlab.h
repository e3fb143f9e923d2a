#pragma once

#include "partwise/base/child_work.h"
#include "partwise/base/files.h"
#include "partwise/formats/arrays.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace partwise::formats {

// A value of a MATLAB file. Every question to an absent or different kind of value has an empty
// answer, so that a path like net.meta.classes can be followed blindly.
struct MatlabValue {
  enum class Kind { absent, numbers, text, cell, structure, other };
  Kind kind = Kind::absent;
  std::vector<std::size_t> extents;  // the first runs fastest

  Dtype dtype = Dtype::f64;  // of numbers: real, dense, as many as the extents say
  std::string_view bytes;
  std::shared_ptr<const void> owner;

  std::string text;  // UTF-8

  std::vector<std::string> fields;  // of a structure
  std::vector<MatlabValue> items;  // cells; or all fields of the first structure, then the second's

  [[nodiscard]] std::size_t count() const;  // elements of a cell or structure array
  [[nodiscard]] const MatlabValue& cell(std::size_t index) const;
  [[nodiscard]] const MatlabValue& field(std::string_view name, std::size_t index = 0) const;
  [[nodiscard]] std::optional<std::string> as_text() const;
};

using MatlabVariables = std::map<std::string, MatlabValue>;

// The same value for who knows what must be there: a wrong kind or a missing field is an Error that
// names file, variable and the fields on the way. Keeps the whole variable alive.
class MatlabRecord {
 public:
  MatlabRecord(MatlabValue variable, std::string place)
      : MatlabRecord(std::make_shared<const MatlabValue>(std::move(variable)), std::move(place)) {}

  [[nodiscard]] int64_t rows() const;
  [[nodiscard]] int64_t columns() const;  // every extent after the first counts
  [[nodiscard]] int64_t count() const { return rows() * columns(); }
  [[nodiscard]] bool empty() const { return count() == 0; }

  // A member of the index-th (0-based) struct of a struct array.
  [[nodiscard]] MatlabRecord field(const std::string& name, int64_t index = 0) const;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<double> numbers() const;  // column-major
  [[nodiscard]] double number() const;                // a scalar, or text that spells one
  [[nodiscard]] std::vector<uint8_t> mask() const;    // of bytes or logicals: row-major, 0 or 1

 private:
  MatlabRecord(std::shared_ptr<const MatlabValue> value, std::string place)
      : value_(std::move(value)), place_(std::move(place)) {}

  std::shared_ptr<const MatlabValue> value_;
  std::string place_;
};

// A MATLAB 7.3 file, which is HDF5, usually behind 512 bytes of MATLAB's own.
bool is_matlab73(std::string_view bytes);

// False in a build without HDF5: MATLAB 7.3 files are then refused in one line.
bool matlab73_supported();

// All variables of a MATLAB file of version 5 or 7.3.
MatlabVariables read_matlab(const std::filesystem::path& path);

// One of them. Masks shrink a hundredfold and more when they are compressed, so that the file's
// size is no limit here. May be called on several threads.
MatlabRecord read_matlab(const std::filesystem::path& path, const std::string& variable);

// The variables of a MATLAB 5 file (what MATLAB writes by default, compressed or not). Numbers
// point into the file, or into what was decompressed; sparse and complex ones, objects and
// functions are there as `other`. Refused: big endian, nesting beyond 32, and files that take more
// than `most` bytes of memory (0: 16 MiB and 16 times their size).
MatlabVariables parse_matlab5(const FileBytes& file, std::size_t most = 0);

// Hands one variable over as bytes, to be read in another process.
void hand_over(const std::string& name, const MatlabValue& value, const HandOver& write);

// Reads a MATLAB 7.3 file and hands its variables over; `only`: one of them, all where it is empty.
// They take at most 4 GiB. For a child process: HDF5 crashes on some damaged files, corrupts its
// memory on others, and is not safe on several threads. `read_matlab` knows.
void read_matlab73(const std::filesystem::path& path,
                   const std::string& only,
                   const HandOver& write);

// The variables that were handed over one behind the other. The bytes are a stranger's: who wrote
// them may have been out of its mind. Sizes and kinds are checked against each other and what is
// there, nesting and memory have limits; an Error names the file. Numbers point into the bytes.
MatlabVariables values_handed_over(const FileBytes& bytes);

// The product of the extents; nothing when it does not fit.
std::optional<std::size_t> product(const std::vector<std::size_t>& extents);

// Text as MATLAB keeps it: UTF-8, Latin-1 or UTF-16 without pairs.
std::string text_from_bytes(std::string_view bytes);
std::string text_from_utf16(std::string_view bytes);

// A zlib stream, decompressed; an Error that begins with `place` when it is damaged, cut off or
// gives more than `limit` bytes.
std::string inflated(std::string_view bytes, std::size_t limit, const std::string& place);

}  // namespace partwise::formats
