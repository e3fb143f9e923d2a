#include "partwise/tensors/gpu_stream.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace partwise::tensors {
namespace {

// On a GPU that is busy, with memory that is given back as soon as it has been sent.
TEST(Sent, IsWhatWasSentHoweverBusyTheGpuIs) {
  const bool cuda = torch::cuda::is_available();
  const torch::Device device = cuda ? torch::kCUDA : torch::kCPU;
  constexpr int kSent = 40;
  constexpr int64_t kNumbers = 1 << 18;
  const auto where = torch::zeros({kNumbers}, torch::TensorOptions(device).dtype(torch::kInt64));
  auto sum = torch::zeros_like(where);
  auto work = torch::ones({512, 512}, device) / 512.0;
  for (int i = 1; i <= kSent; ++i) {
    for (int busy = 0; busy < (cuda ? 40 : 0); ++busy) work = work.mm(work);
    const auto pinned =
        torch::full({kNumbers}, i, torch::TensorOptions(torch::kInt64).pinned_memory(cuda));
    sum.add_(sent(pinned, where));
  }
  EXPECT_EQ(sum.min().item<int64_t>(), kSent * (kSent + 1) / 2);
  EXPECT_EQ(sum.max().item<int64_t>(), kSent * (kSent + 1) / 2);
}

TEST(ComingNumbers, AreThoseOfTheirTime) {
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  const auto numbers = torch::full({2}, 1.0, torch::TensorOptions(device).dtype(torch::kFloat64));
  const ComingNumbers coming(numbers);
  numbers.fill_(2.0);
  EXPECT_EQ(coming.read(), (std::vector<double>{1.0, 1.0}));
  EXPECT_TRUE(coming.have_come());
}

}  // namespace
}  // namespace partwise::tensors
