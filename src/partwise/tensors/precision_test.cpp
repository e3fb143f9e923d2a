#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::tensors {
namespace {

torch::ScalarType type_of_product() {
  const auto factor = torch::ones({4, 4});
  return factor.matmul(factor).scalar_type();
}

TEST(Precision, RoundsProductsWhileItLivesAndOnlyThen) {
  {
    const PrecisionScope precision(Precision::bf16, "cpu");
    EXPECT_EQ(type_of_product(), torch::kBFloat16);
    {
      const FullPrecision full;
      EXPECT_EQ(type_of_product(), torch::kFloat32);
    }
    EXPECT_EQ(type_of_product(), torch::kBFloat16);
  }
  EXPECT_EQ(type_of_product(), torch::kFloat32);
  const PrecisionScope precision(Precision::tf32, "cpu");
  EXPECT_EQ(type_of_product(), torch::kFloat32);
}

}  // namespace
}  // namespace partwise::tensors
