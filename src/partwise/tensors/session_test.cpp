#include "partwise/tensors/session.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace partwise::tensors {
namespace {

TEST(Device, ByItsNameIsTakenAsItIs) {
  EXPECT_EQ(choose_device("cpu"), "cpu");
  if (torch::cuda::is_available()) {
    EXPECT_EQ(choose_device("cuda:0"), "cuda:0");
  }
}

TEST(Device, ChosenByTheProgramIsCudaOnlyWhereThereIsOne) {
  EXPECT_EQ(choose_device("auto"), torch::cuda::is_available() ? "cuda" : "cpu");
}

TEST(Device, ThatDoesNotExistIsRefusedWithTheValidNames) {
  try {
    choose_device("gpu");
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("auto, cpu, cuda"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace partwise::tensors
