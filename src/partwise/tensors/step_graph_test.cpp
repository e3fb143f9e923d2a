#include "partwise/tensors/step_graph.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <string>

namespace partwise::tensors {
namespace {

// On a GPU most of these steps are replays, and their recordings come and go.
TEST(StepGraph, DoesEveryStepUnderKeysThatComeAndGo) {
  constexpr int kEpochs = 30;
  constexpr int kSteps = 5;
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  auto sum = torch::zeros({}, device);
  const auto addend = torch::ones({}, device);
  StepGraph graph(Replay::on);
  double expected = 0.0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    addend.fill_(epoch);
    for (int step = 0; step < kSteps; ++step) {
      for (const auto& key : {std::string("of all epochs"), std::to_string(epoch)}) {
        graph.run(key, true, [&] { sum.add_(addend * 1.0); });
        expected += epoch;
      }
    }
  }
  EXPECT_EQ(sum.item<double>(), expected);
}

}  // namespace
}  // namespace partwise::tensors
