#include "partwise/weights/pickle.h"
#include "partwise/weights/printable.h"

#include <fmt/format.h>

namespace partwise::weights::pickle {
namespace {

struct Describe {
  std::string operator()(None /*none*/) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return fmt::format("the number {}", value); }
  std::string operator()(double value) const { return fmt::format("the number {}", value); }
  std::string operator()(const std::string& value) const {
    return fmt::format("the text '{}'", printable(value, 60));
  }
  std::string operator()(const List& list) const {
    return fmt::format("a list of {}", list.items.size());
  }
  std::string operator()(const Tuple& tuple) const {
    return fmt::format("a tuple of {}", tuple.items.size());
  }
  std::string operator()(const Dict& dict) const {
    return fmt::format("a dictionary of {}", dict.items.size());
  }
  std::string operator()(const Global& /*global*/) const { return "a type"; }
  std::string operator()(const Storage& /*storage*/) const { return "a storage"; }
  std::string operator()(const Tensor& tensor) const {
    return fmt::format("a tensor {}", shape_text(tensor.shape));
  }
  std::string operator()(const Opaque& opaque) const { return opaque.what; }
};

}  // namespace

std::string describe(const Value& value) {
  return std::visit(Describe{}, value);
}

}  // namespace partwise::weights::pickle
