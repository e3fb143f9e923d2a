// For layer_test.py: a few training steps of the C++ layer on maps that are easily made again, as
// JSON on standard output.
//   write_layer_case OPTIONS     e.g. '{"method": "paper"}'
#include "partwise/base/error.h"
#include "partwise/interpretable.h"
#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/torch.h"

namespace {

constexpr int64_t kBatch = 6;
constexpr int64_t kFilters = 8;
constexpr int64_t kSide = 7;
constexpr int64_t kCategories = 3;
constexpr int64_t kSteps = 5;

// Small whole numbers in no order, about half of them below zero.
torch::Tensor scattered(int64_t step) {
  const auto at = torch::arange(kBatch * kFilters * kSide * kSide, torch::kInt64);
  const auto number = (at * at * 31 + at * (7919 + 2 * step) + 101 * step).remainder(1009) - 504;
  return (number.to(torch::kFloat32) / 256.0).reshape({kBatch, kFilters, kSide, kSide});
}

nlohmann::json numbers(const torch::Tensor& tensor) {
  const auto flat = tensor.detach().to(torch::kFloat64).flatten().contiguous();
  return std::vector<double>(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
}

}  // namespace

int main(int argc, char** argv) {
  partwise::ensure(argc == 2, "usage: write_layer_case OPTIONS");
  torch::set_num_threads(1);
  partwise::Interpretable layer(
      kFilters, kSide, kCategories,
      partwise::parts::part_options_from(nlohmann::json::parse(argv[1]), argv[1]));
  const auto labels = torch::arange(kBatch, torch::kInt64).remainder(kCategories + 1) - 1;
  torch::Tensor maps;
  torch::Tensor masked;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto before = scattered(step);
    maps = torch::relu(before).requires_grad_();
    masked = layer(maps, labels);
    (masked * before).sum().backward();
  }
  nlohmann::json found{{"masked", numbers(masked)},
                       {"gradient", numbers(maps.grad())},
                       {"category", numbers(layer->filter_category())},
                       {"beta", numbers(layer->filter_beta())}};
  for (const auto& buffer : layer->named_buffers())
    found["buffers"][buffer.key()] = numbers(buffer.value());
  found["gradient_ratio"] = layer->take_diagnostics().gradient_ratio;
  layer->eval();
  found["seen"] = numbers(layer(maps));
  fmt::print("{}\n", found.dump());
  return 0;
}
