#include "partwise/parts/templates.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace partwise::parts {
namespace {

PartOptions with_beta(double beta) {
  PartOptions options;
  options.beta = beta;
  return options;
}

TEST(Templates, AgreeWithTheFormulaCellByCell) {
  for (const int64_t n : {3, 6, 7, 13, 14, 17}) {
    for (const char* shape : {"l1", "l2"}) {
      auto options = with_beta(4.0);
      options.template_shape = shape;
      const auto templates = unit_templates(n, options);
      ASSERT_EQ(templates.sizes(), (std::vector<int64_t>{n * n, n * n}));
      const auto* value = templates.data_ptr<double>();
      for (int64_t mu = 0; mu < n * n; ++mu) {
        for (int64_t cell = 0; cell < n * n; ++cell) {
          const double down = std::abs(static_cast<double>(mu / n - cell / n));
          const double across = std::abs(static_cast<double>(mu % n - cell % n));
          const double distance =
              options.template_shape == "l1" ? down + across : std::hypot(down, across);
          const double expected = std::max(1.0 - 4.0 * distance / static_cast<double>(n), -1.0);
          ASSERT_NEAR(*value++, expected, 1e-12) << n << shape << mu << ' ' << cell;
        }
      }
    }
  }
}

// The release writes the slope b on linspace(-1, 1, n): beta = 2 b n / (n - 1).
TEST(Templates, HaveThePositiveSupportOfTheReleaseAtN14) {
  constexpr int64_t kSide = 14;
  const auto support = [](double b) {
    const auto templates = unit_templates(kSide, with_beta(2.0 * b * kSide / (kSide - 1)));
    return (templates[6 * kSide + 6] > 1e-9).sum().item<int64_t>();
  };
  EXPECT_EQ(support(1.5), 41);
  EXPECT_EQ(support(2.0), 25);
  EXPECT_EQ(support(3.0), 13);
}

TEST(Templates, RefuseABetaOutOfRangeByName) {
  try {
    unit_templates(4, with_beta(-1.0));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("beta"), std::string::npos);
  }
}

}  // namespace
}  // namespace partwise::parts
