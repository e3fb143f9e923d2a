#include "partwise/networks/onnx_mask.h"

#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

namespace partwise::networks {
namespace {

constexpr int64_t kToInt64 = 7;  // TensorProto.DataType.INT64

Tensor integers(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

Tensor real(double value) {
  return torch::scalar_tensor(value, torch::kFloat32);
}

// Centre of mass along rows (axis 2) or columns (3), rounded half to even as LibTorch rounds: the
// cell's row or column, [N, filter, 1] int64. A silent map's is the middle.
std::string centre_along(OnnxGraph& graph,
                         const std::string& name,
                         const std::string& maps,
                         int64_t side,
                         int64_t axis) {
  const auto sum = [&](const std::string& of, int64_t over, int64_t keep, const std::string& what) {
    const auto axes = graph.constant(name + what + ".axes", integers({over}));
    return graph.add({"ReduceSum", {of, axes}, name + what, {{"keepdims", keep}}});
  };
  const auto profile = sum(maps, axis == 2 ? 3 : 2, 0, ".profile");
  const auto total = sum(profile, 2, 1, ".total");
  const auto position =
      graph.constant(name + ".positions", torch::arange(side, torch::kInt64).to(torch::kFloat32));
  const auto weighted = graph.add({"Mul", {profile, position}, name + ".weighted"});
  const auto moment = sum(weighted, 2, 1, ".moment");
  const auto centre = graph.add({"Div", {moment, total}, name + ".centre"});
  const auto zero = graph.constant(name + ".zero", real(0.0));
  const auto fires = graph.add({"Greater", {total, zero}, name + ".fires"});
  const auto middle = graph.constant(name + ".middle", real(static_cast<double>(side - 1) / 2.0));
  const auto chosen = graph.add({"Where", {fires, centre, middle}, name + ".chosen"});
  const auto rounded = graph.add({"Round", {chosen}, name + ".rounded"});
  return graph.add({"Cast", {rounded}, name, {{"to", kToInt64}}});
}

}  // namespace

std::string onnx_peak_cells(OnnxGraph& graph,
                            const std::string& name,
                            const std::string& maps,
                            int64_t side,
                            parts::Peak peak) {
  if (peak == parts::Peak::argmax) {
    const auto shape = graph.constant(name + ".flat.shape", integers({0, 0, -1}));
    const auto flat = graph.add({"Reshape", {maps, shape}, name + ".flat"});
    return graph.add(
        {"ArgMax",
         {flat},
         name,
         {{"axis", int64_t{2}}, {"keepdims", int64_t{1}}, {"select_last_index", int64_t{0}}}});
  }
  const auto row = centre_along(graph, name + ".row", maps, side, 2);
  const auto column = centre_along(graph, name + ".column", maps, side, 3);
  const auto width = graph.constant(name + ".side", integers({side}));
  const auto start = graph.add({"Mul", {row, width}, name + ".start"});
  return graph.add({"Add", {start, column}, name});
}

void onnx_peaks(OnnxGraph& graph,
                const std::string& output,
                const std::string& cells,
                int64_t side) {
  const auto width = graph.constant(output + ".side", integers({side}));
  const auto row = graph.add({"Div", {cells, width}, output + ".row"});
  const auto column = graph.add({"Mod", {cells, width}, output + ".column"});
  graph.add({"Concat", {row, column}, output, {{"axis", int64_t{2}}}});
}

void onnx_masked(OnnxGraph& graph,
                 const std::string& output,
                 const std::string& maps,
                 const std::string& cells,
                 int64_t side,
                 const InterpretableImpl& layer) {
  const auto table = graph.constant(
      output + ".distances",
      parts::cell_distances(side, layer.options().template_shape).to(torch::kFloat32));
  const auto slopes = (layer.filter_beta() / static_cast<double>(side)).view({-1, 1, 1});
  const auto rows = graph.add({"Gather", {table, cells}, output + ".rows", {{"axis", int64_t{0}}}});
  const auto shape = graph.constant(output + ".shape", integers({0, 0, side, side}));
  const auto distance = graph.add({"Reshape", {rows, shape}, output + ".distance"});
  const auto slope = graph.constant(output + ".slopes", slopes);
  const auto fall = graph.add({"Mul", {distance, slope}, output + ".fall"});
  const auto one = graph.constant(output + ".one", real(1.0));
  const auto unit = graph.add({"Sub", {one, fall}, output + ".template"});
  const auto mask = graph.add({"Relu", {unit}, output + ".mask"});
  graph.add({"Mul", {maps, mask}, output});
}

}  // namespace partwise::networks
