#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/base/printable.h"
#include "partwise/formats/convert.h"
#include "partwise/weights/read_weights.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace partwise::weights {
namespace {

using formats::Array;
using formats::floats_of;
using formats::make_array;
using formats::MatlabValue;
using formats::MatlabVariables;
using formats::NamedArrays;

enum class Role { kernel, vector, unknown };

// H x W x In x Out with H fastest -> [out, in, h, w] with w fastest.
Array kernel(const MatlabValue& numbers, const std::string& place) {
  auto extents = numbers.extents;
  while (extents.size() > 4 && extents.back() == 1) extents.pop_back();
  ensure(extents.size() <= 4, "{}: a kernel with {} extents, expected 4", place, extents.size());
  extents.resize(4, 1);
  const auto [height, width, in, out] = std::array{extents[0], extents[1], extents[2], extents[3]};
  const std::size_t size = size_of(numbers.dtype);
  const std::size_t planes = numbers.bytes.empty() ? 0 : in * out;
  std::string bytes(numbers.bytes.size(), '\0');
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const std::size_t start = plane * height * width;
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        std::memcpy(&bytes[(start + y * width + x) * size],
                    numbers.bytes.data() + (start + x * height + y) * size, size);
      }
    }
  }
  const auto extent = [](std::size_t value) { return static_cast<int64_t>(value); };
  return make_array(numbers.dtype, {extent(out), extent(in), extent(height), extent(width)},
                    std::move(bytes));
}

// Rows x columns with rows fastest -> [rows, columns] with columns fastest; a vector as [n].
Array matrix(const MatlabValue& numbers) {
  const std::size_t rows = numbers.extents.empty() ? 0 : numbers.extents[0];
  const std::size_t count = numbers.bytes.size() / size_of(numbers.dtype);
  const std::size_t columns = rows == 0 ? 0 : count / rows;
  if (rows <= 1 || columns <= 1) {
    return make_array(numbers.dtype, {static_cast<int64_t>(count)}, std::string(numbers.bytes));
  }
  auto flat = numbers;
  flat.extents = {rows, columns};
  auto turned = kernel(flat, "");
  turned.shape = {static_cast<int64_t>(rows), static_cast<int64_t>(columns)};
  return turned;
}

Array array_of(const MatlabValue& numbers, Role role, const std::string& place) {
  if (role == Role::kernel) return kernel(numbers, place);
  const auto wide = [](std::size_t extent) { return extent != 1; };
  const bool vector = std::count_if(numbers.extents.begin(), numbers.extents.end(), wide) <= 1;
  if (role == Role::vector && vector) {
    return make_array(numbers.dtype,
                      {static_cast<int64_t>(numbers.bytes.size() / size_of(numbers.dtype))},
                      std::string(numbers.bytes));
  }
  return numbers.extents.size() <= 2 ? matrix(numbers) : kernel(numbers, place);
}

// "123.68 116.779 103.939"; a whole image by its channels' means.
std::optional<std::string> numbers_text(const MatlabValue& numbers) {
  constexpr std::size_t kMost = 16;
  if (numbers.kind != MatlabValue::Kind::numbers) return std::nullopt;
  const auto values = floats_of({numbers.dtype, {}, numbers.bytes, nullptr});
  if (values.size() <= kMost) return fmt::format("{}", fmt::join(values, " "));
  if (numbers.extents.size() != 3 || numbers.extents[2] > kMost) return std::nullopt;
  const std::size_t area = numbers.extents[0] * numbers.extents[1];
  std::vector<double> means;
  for (auto channel = values.begin(); channel != values.end();
       channel += static_cast<std::ptrdiff_t>(area)) {
    const double sum = std::accumulate(channel, channel + static_cast<std::ptrdiff_t>(area), 0.0);
    means.push_back(sum / static_cast<double>(area));
  }
  return fmt::format("{:g}", fmt::join(means, " "));
}

std::optional<std::string> list_text(const MatlabValue& node) {
  auto list = nlohmann::json::array();
  for (const auto& item : node.items) list.push_back(item.text);
  if (node.kind != MatlabValue::Kind::cell || list.empty()) return std::nullopt;
  return list.dump();
}

class Network {
 public:
  Network(const MatlabVariables& variables, std::string name)
      : variables_(variables), name_(std::move(name)) {}

  NamedArrays read() {
    const auto& parameters = part("params");
    const auto& layers = part("layers");
    const bool dag = parameters.kind == MatlabValue::Kind::structure;
    ensure(dag || layers.kind == MatlabValue::Kind::cell,
           "{}: no MatConvNet network in it (neither net.layers nor net.params); it has: {}", name_,
           variable_names());
    result_.format = dag ? "MatConvNet DagNN" : "MatConvNet simplenn";
    for (std::size_t i = 0; dag && i < parameters.count(); ++i) {
      const auto name = parameters.field("name", i).as_text();
      ensure(name.has_value(), "{}: parameter {} of net.params has no name", name_, i + 1);
      add(*name, parameters.field("value", i), Role::unknown);
    }
    for (std::size_t i = 0; !dag && i < layers.count(); ++i) add_layer(layers.cell(i), i);
    ensure(!result_.arrays.empty(), "{}: a network without weights", name_);
    add_metadata();
    return std::move(result_);
  }

 private:
  [[nodiscard]] const MatlabValue& variable(const std::string& name) const {
    static const MatlabValue none;
    const auto found = variables_.find(name);
    return found == variables_.end() ? none : found->second;
  }

  [[nodiscard]] std::string variable_names() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : variables_) names.push_back(printable(name, 40));
    return printable(join(names), 200);
  }

  // A member of net, or of the file where net was saved with save -struct.
  [[nodiscard]] const MatlabValue& part(const std::string& name) const {
    const auto& net = variable("net");
    return net.kind == MatlabValue::Kind::structure ? net.field(name) : variable(name);
  }

  void add_layer(const MatlabValue& layer, std::size_t index) {
    const auto given = layer.field("name").as_text();
    const auto name = given && !given->empty() ? *given : fmt::format("layer{}", index + 1);
    const auto first = layer.field("type").as_text() == "conv" ? Role::kernel : Role::vector;
    const auto& weights = layer.field("weights");
    if (weights.kind == MatlabValue::Kind::cell) {
      add(name + ".weight", weights.cell(0), first);
      add(name + ".bias", weights.cell(1), Role::vector);
      add(name + ".moments", weights.cell(2), Role::unknown);
    } else {  // before 2015
      add(name + ".weight", layer.field("filters"), first);
      add(name + ".bias", layer.field("biases"), Role::vector);
    }
  }

  // Layers may lack any of their arrays: absent and empty ones are no arrays.
  void add(const std::string& name, const MatlabValue& value, Role role) {
    const auto place = fmt::format("{}: {}", name_, printable(name));
    if (value.kind == MatlabValue::Kind::absent) return;
    ensure(
        value.kind == MatlabValue::Kind::numbers,
        "{}: not a dense array of real numbers (on a GPU? move the net to the CPU and save again)",
        place);
    if (value.bytes.empty()) return;
    ensure(result_.arrays.emplace(name, array_of(value, role, place)).second,
           "{}: the name occurs twice", place);
  }

  void keep(const std::string& name, const std::optional<std::string>& text) {
    if (text && !text->empty()) result_.metadata[name] = *text;
  }

  void add_metadata() {
    const auto inner = [&](const char* name) -> const MatlabValue& {
      const auto& found = part("meta").field(name);  // before 2015 there was no meta
      return found.kind == MatlabValue::Kind::absent ? part(name) : found;
    };
    const auto& normalization = inner("normalization");
    for (const char* key : {"imageSize", "averageImage", "border", "keepAspect", "cropSize"}) {
      keep(std::string("normalization.") + key, numbers_text(normalization.field(key)));
    }
    keep("normalization.interpolation", normalization.field("interpolation").as_text());
    keep("classes", list_text(inner("classes").field("name")));
    keep("class_descriptions", list_text(inner("classes").field("description")));
  }

  const MatlabVariables& variables_;
  std::string name_;
  NamedArrays result_;
};

}  // namespace

NamedArrays matconvnet_network(const MatlabVariables& variables, const std::string& name) {
  return Network(variables, name).read();
}

}  // namespace partwise::weights
