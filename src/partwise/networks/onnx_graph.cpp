#include "partwise/networks/onnx_graph.h"

#include "partwise/base/error.h"
#include "partwise/formats/protobuf_writer.h"
#include "partwise/tensors/torch.h"

#include <bit>

namespace partwise::networks {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX's raw data is little-endian");

constexpr int64_t kIrVersion = 8;
constexpr int64_t kOpset = 17;

// Field numbers and enumerators of onnx.proto, by message.
namespace model_field {
enum { ir_version = 1, producer = 2, graph = 7, opset = 8, metadata = 14 };
}
namespace opset_field {
enum { domain = 1, version = 2 };
}
namespace entry_field {
enum { key = 1, value = 2 };
}
namespace graph_field {
enum { node = 1, name = 2, initializer = 5, input = 11, output = 12 };
}
namespace node_field {
enum { input = 1, output = 2, name = 3, operation = 4, attribute = 5 };
}
namespace attribute_field {
enum { name = 1, real = 2, integer = 3, integers = 8, type = 20 };
}
namespace attribute_type {
enum { real = 1, integer = 2, integers = 7 };
}
namespace tensor_field {
enum { dims = 1, type = 2, name = 8, raw = 9 };
}
namespace element_type {
enum { float32 = 1, int64 = 7 };
}
namespace value_field {
enum { name = 1, type = 2 };
}
namespace type_field {
enum { tensor = 1 };
}
namespace tensor_type_field {
enum { element = 1, shape = 2 };
}
namespace shape_field {
enum { dimension = 1 };
}
namespace dimension_field {
enum { extent = 1, symbol = 2 };
}

struct AttributeValue {
  formats::ProtobufWriter& out;

  void operator()(int64_t value) const {
    out.integer(attribute_field::integer, value);
    out.integer(attribute_field::type, attribute_type::integer);
  }
  void operator()(float value) const {
    out.real(attribute_field::real, value);
    out.integer(attribute_field::type, attribute_type::real);
  }
  void operator()(const std::vector<int64_t>& values) const {
    for (const int64_t value : values) out.integer(attribute_field::integers, value);
    out.integer(attribute_field::type, attribute_type::integers);
  }
};

void write_node(formats::ProtobufWriter& out, const OnnxGraph::Node& node) {
  for (const auto& input : node.inputs) out.text(node_field::input, input);
  out.text(node_field::output, node.output);
  out.text(node_field::name, node.output);
  out.text(node_field::operation, node.operation);
  for (const auto& [name, value] : node.attributes) {
    out.message(node_field::attribute, [&, &name = name, &value = value] {
      out.text(attribute_field::name, name);
      std::visit(AttributeValue{out}, value);
    });
  }
}

void write_constant(formats::ProtobufWriter& out, const std::string& name, const Tensor& tensor) {
  const bool integer = tensor.scalar_type() == torch::kInt64;
  for (const int64_t extent : tensor.sizes()) out.integer(tensor_field::dims, extent);
  out.integer(tensor_field::type, integer ? element_type::int64 : element_type::float32);
  out.text(tensor_field::name, name);
  out.text(tensor_field::raw, {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()});
}

void write_dimension(formats::ProtobufWriter& out, int64_t extent) {
  if (extent < 0) {
    out.text(dimension_field::symbol, "N");
  } else {
    out.integer(dimension_field::extent, extent);
  }
}

void write_value(formats::ProtobufWriter& out, const OnnxGraph::Value& value) {
  out.text(value_field::name, value.name);
  out.message(value_field::type, [&] {
    out.message(type_field::tensor, [&] {
      out.integer(tensor_type_field::element,
                  value.integer ? element_type::int64 : element_type::float32);
      out.message(tensor_type_field::shape, [&] {
        for (const int64_t extent : value.shape) {
          out.message(shape_field::dimension, [&] { write_dimension(out, extent); });
        }
      });
    });
  });
}

}  // namespace

std::string OnnxGraph::add(Node node) {
  nodes_.push_back(std::move(node));
  return nodes_.back().output;
}

std::string OnnxGraph::constant(const std::string& name, const Tensor& tensor) {
  expects(tensor.scalar_type() == torch::kFloat32 || tensor.scalar_type() == torch::kInt64,
          "constant {}: only float32 and int64 are written", name);
  const auto plain = tensor.detach().cpu().contiguous();
  expects(constants_.emplace(name, plain).second, "two constants are called {}", name);
  return name;
}

std::size_t OnnxGraph::constant_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : constants_) bytes += tensor.nbytes();
  return bytes;
}

std::string OnnxGraph::model(const std::string& name,
                             const std::map<std::string, std::string>& metadata) const {
  constexpr std::size_t kRoomForTheRest = std::size_t{1} << 20U;
  formats::ProtobufWriter out;
  out.reserve(constant_bytes() + kRoomForTheRest);
  out.integer(model_field::ir_version, kIrVersion);
  out.text(model_field::producer, "partwise");
  out.message(model_field::opset, [&] {
    out.text(opset_field::domain, "");
    out.integer(opset_field::version, kOpset);
  });
  for (const auto& [key, value] : metadata) {
    out.message(model_field::metadata, [&, &key = key, &value = value] {
      out.text(entry_field::key, key);
      out.text(entry_field::value, value);
    });
  }
  out.message(model_field::graph, [&] {
    out.text(graph_field::name, name);
    for (const auto& node : nodes_) out.message(graph_field::node, [&] { write_node(out, node); });
    for (const auto& value : inputs_) {
      out.message(graph_field::input, [&] { write_value(out, value); });
    }
    for (const auto& value : outputs_) {
      out.message(graph_field::output, [&] { write_value(out, value); });
    }
    for (const auto& [constant, tensor] : constants_) {
      out.message(graph_field::initializer, [&, &constant = constant, &tensor = tensor] {
        write_constant(out, constant, tensor);
      });
    }
  });
  return out.take();
}

}  // namespace partwise::networks
