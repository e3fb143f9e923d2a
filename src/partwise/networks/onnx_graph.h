#pragma once

#include "partwise/tensors/tensor.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace partwise::networks {

// An ONNX graph under construction: nodes between named values, constants, inputs and outputs. It
// knows ONNX's schema and nothing of networks.
class OnnxGraph {
 public:
  using Attribute = std::variant<int64_t, float, std::vector<int64_t>>;
  struct Node {
    std::string operation;
    std::vector<std::string> inputs;
    std::string output;
    std::map<std::string, Attribute> attributes = {};
  };
  // A float32 or int64 tensor; a negative extent is the batch, "N".
  struct Value {
    std::string name;
    bool integer = false;
    std::vector<int64_t> shape;
  };

  // Both return the name of the value, to be passed on.
  std::string add(Node node);
  std::string constant(const std::string& name, const Tensor& tensor);  // float32 or int64
  void input(Value value) { inputs_.push_back(std::move(value)); }
  void output(Value value) { outputs_.push_back(std::move(value)); }

  // Of all constants; nearly the size of the model.
  std::size_t constant_bytes() const;

  // The bytes of a ModelProto: IR version 8, opset 17.
  std::string model(const std::string& name,
                    const std::map<std::string, std::string>& metadata) const;

 private:
  std::vector<Node> nodes_;
  std::map<std::string, Tensor> constants_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
};

}  // namespace partwise::networks
