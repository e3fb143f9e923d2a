// Writes networks as ONNX together with images and what LibTorch makes of them, for agree.mjs to
// compare with another runtime:  write_onnx_cases FOLDER

#include "partwise/base/files.h"
#include "partwise/networks/onnx.h"
#include "partwise/parts/mask.h"
#include "partwise/tensors/torch.h"

#include <fmt/core.h>

namespace partwise {
namespace {

constexpr int64_t kImages = 3;
constexpr int64_t kOutputs = 4;
constexpr int64_t kHidden = 32;  // small files

struct Case {
  std::string net;
  networks::Arm arm;
  std::string variant;  // empty: the default options
  parts::PartOptions options = {};

  std::string name() const {
    return net + "_" + word_of(arm) + (variant.empty() ? "" : "_" + variant);
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& net : networks::network_names()) {
    const bool every_arm = net == "tiny" || net == "alexnet" || net == "vgg-16" ||
                           net == "squeezenet1-1" || net == "resnet-18";
    for (const auto arm : values_of<networks::Arm>()) {
      if (every_arm || arm == networks::Arm::interpretable) cases.push_back({net, arm, ""});
    }
  }
  const auto vary = [&](const std::string& variant, auto&& change) {
    Case varied{"tiny", networks::Arm::interpretable, variant};
    change(varied.options);
    cases.push_back(varied);
  };
  vary("centroid", [](auto& options) { options.peak = parts::Peak::centroid; });
  vary("learned", [](auto& options) { options.beta_rule = parts::BetaRule::learned; });
  vary("round", [](auto& options) { options.template_shape = parts::TemplateShape::l2; });
  vary("after-pooling",
       [](auto& options) { options.mask_place = parts::MaskPlace::after_pooling; });
  vary("release", [](auto& options) {
    options.peak = parts::Peak::centroid;
    options.beta_rule = parts::BetaRule::learned;
    options.mask_place = parts::MaskPlace::after_pooling;
  });
  return cases;
}

// Random weights, but no parameter or statistic left at the 0 or 1 it starts from: those would
// hide a missing one. The first filters are silent: all their cells are equal.
networks::Network make_network(const Case& made) {
  networks::Network network(
      networks::build_architecture(made.net, made.arm, kOutputs, made.options, {.hidden = kHidden}),
      kOutputs, made.options, 11);
  for (auto& [name, parameter] : network.parameters()) {
    if (parameter.dim() == 1) parameter.data().add_(0.1 * torch::randn_like(parameter));
  }
  for (const auto& tap : network.architecture().taps) {
    const auto bias = network.parameters().find(tap.name + ".bias");
    if (bias != network.parameters().end()) bias->second.data().slice(0, 0, 4).fill_(-1e3);
  }
  const auto side = network.architecture().input_side;
  for (int64_t step = 0; step < 2; ++step) {
    network.train(torch::randn({kOutputs, 3, side, side}), torch::arange(kOutputs, torch::kInt64));
  }
  return network;
}

class CaseFolder {
 public:
  explicit CaseFolder(std::filesystem::path path) : path_(std::move(path)) {
    make_writable_folder(path_);
  }
  const std::filesystem::path& path() const { return path_; }

  void write(const std::string& name, const Tensor& tensor) {
    const auto plain = tensor.contiguous();
    write_file_atomically(path_ / (name + ".bin"),
                          {static_cast<const char*>(plain.data_ptr()), plain.nbytes()});
    description_["tensors"][name] = plain.sizes().vec();
  }
  void describe(const networks::Tap& tap, const std::string& peak) {
    description_["taps"].push_back(
        {{"name", tap.name}, {"peak", peak}, {"masked", tap.interpretable >= 0}});
  }
  void finish() const { write_json_atomically(path_ / "case.json", description_); }

 private:
  std::filesystem::path path_;
  nlohmann::json description_;
};

void write_case(const std::filesystem::path& root, const Case& made) {
  torch::manual_seed(5);
  const auto network = make_network(made);
  const auto& architecture = network.architecture();
  CaseFolder folder(root / made.name());
  networks::write_onnx(folder.path() / "model.onnx", network, {{"arm", word_of(made.arm)}});
  const auto side = architecture.input_side;
  const auto images = torch::randn({kImages, 3, side, side});
  const auto output = network.evaluate(images);
  folder.write("images", images);
  folder.write("logits", output.logits);
  for (std::size_t t = 0; t < architecture.taps.size(); ++t) {
    const auto& tap = architecture.taps[t];
    auto options = made.options;
    if (tap.interpretable < 0) options.peak = parts::Peak::argmax;
    const auto n = output.taps[t].maps.size(3);
    const auto cells = parts::peak_cells(output.taps[t].maps, options);
    folder.write(tap.name + ".maps", output.taps[t].maps);
    folder.write(tap.name + ".peaks", torch::stack({cells.div(n, "floor"), cells.remainder(n)}, 2));
    if (tap.interpretable >= 0) folder.write(tap.name + ".masked", output.taps[t].masked);
    folder.describe(tap, word_of(options.peak));
  }
  folder.finish();
}

void write_all_cases(const std::filesystem::path& root) {
  const torch::NoGradGuard no_grad;
  for (const auto& made : all_cases()) write_case(root, made);
}

}  // namespace
}  // namespace partwise

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: write_onnx_cases FOLDER\n");
    return 2;
  }
  try {
    partwise::write_all_cases(argv[1]);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "write_onnx_cases: {}\n", problem.what());
    return 1;
  }
}
