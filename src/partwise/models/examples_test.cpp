#include "partwise/models/examples.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::models {
namespace {

TEST(NormalisedOnGpu, IsTheSameWithoutKernelsForThatGpu) {
  const auto pixels = torch::randint(0, 256, {4, 3, 9, 9}, torch::kUInt8);
  const auto found = normalised_on_gpu(pixels, false);
  EXPECT_TRUE(torch::allclose(found, normalised(pixels), 1e-5, 1e-6));
  EXPECT_TRUE(found.is_contiguous(at::MemoryFormat::ChannelsLast));
  const auto narrow = normalised_on_gpu(pixels, true);
  EXPECT_EQ(narrow.scalar_type(), torch::kBFloat16);
}

}  // namespace
}  // namespace partwise::models
