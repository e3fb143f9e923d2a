#include "partwise/parts/memory.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::parts {
namespace {

// A checkpoint of an older program, read into this one's layer.
TEST(Memory, CompletesWhatAnOlderProgramRemembered) {
  std::map<std::string, Tensor> state{{"a.peak_scale", torch::tensor({2.0F})},
                                      {"a.scale_seen", torch::tensor({0.5F})},
                                      {"a.squared_spread", torch::tensor({2.0F})}};
  Memory::complete(state, "a.");
  // spread sqrt(2 / 0.5) = 2 cells
  EXPECT_NEAR((state.at("a.fit_spread") / state.at("a.fit_sum")).item<double>(), 2.0, 1e-6);
  EXPECT_NEAR(state.at("a.peak_all").item<double>(), 4.0, 1e-6);
}

}  // namespace
}  // namespace partwise::parts
