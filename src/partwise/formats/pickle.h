#pragma once

#include "partwise/formats/arrays.h"

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// The part of Python's pickle language that torch.save needs for dictionaries of tensors. A pickle
// is a program, and may ask for any function of any module; this reader has none to call. It knows
// collections.OrderedDict, torch's storage types and the two functions that put a tensor together,
// and refuses everything else by its name.
namespace partwise::formats::pickle {

using Ref =
    std::size_t;  // an index into Pickle::values, as values may contain each other or themselves

struct None {};
struct List {
  std::vector<Ref> items;
};
struct Tuple {
  std::vector<Ref> items;
};
struct Dict {
  std::vector<std::pair<Ref, Ref>> items;
  bool ordered = false;
};
// A function or type asked for by name; only the allowed ones exist.
struct Global {
  enum class Kind { ordered_dict, rebuild_tensor, rebuild_parameter, storage_type };
  Kind kind = Kind::ordered_dict;
  Dtype dtype = Dtype::f32;  // of a storage type
};
struct Storage {
  Dtype dtype = Dtype::f32;
  std::string key;  // its entry in the archive
  int64_t count = 0;
};
// Offset, shape and strides count numbers, not bytes; none of them is checked yet.
struct Tensor {
  Storage storage;
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};
// Bytes and integers beyond 64 bits: known to be there, not kept.
struct Opaque {
  std::string what;
};

using Value = std::variant<None,
                           bool,
                           int64_t,
                           double,
                           std::string,
                           List,
                           Tuple,
                           Dict,
                           Global,
                           Storage,
                           Tensor,
                           Opaque>;

struct Pickle {
  std::deque<Value> values;
  Ref root = 0;

  [[nodiscard]] const Value& at(Ref ref) const { return values[ref]; }
};

// Protocols 2 to 5. Memory grows with the length of the pickle, whatever it says; texts are UTF-8.
// `place` begins every complaint.
Pickle parse_pickle(std::string_view bytes, const std::string& place);

// "the number 90", "a list of 3": for the list of what was skipped.
std::string describe(const Value& value);

}  // namespace partwise::formats::pickle
