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
    for (const auto shape : values_of<TemplateShape>()) {
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
              shape == TemplateShape::l1 ? down + across : std::hypot(down, across);
          const double expected = std::max(1.0 - 4.0 * distance / static_cast<double>(n), -1.0);
          ASSERT_NEAR(*value++, expected, 1e-12) << n << word_of(shape) << mu << ' ' << cell;
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

// The paper writes tr(x T) = sum x_ij t_ji: that is the template of the mirrored location.
TEST(Templates, UnderTheTraceAsPrintedWouldFitTheTransposedLocation) {
  const auto templates = unit_templates(6, with_beta(4.0));
  auto map = torch::zeros({6, 6}, torch::kFloat64);
  map[1][4] = 1.0;
  const auto elementwise = templates.matmul(map.flatten());
  const auto trace = templates.matmul(map.t().flatten());
  EXPECT_EQ(elementwise.argmax().item<int64_t>(), 1 * 6 + 4);
  EXPECT_EQ(trace.argmax().item<int64_t>(), 4 * 6 + 1);
}

TEST(Templates, OfEachFiltersOwnBetaAgreeWithThoseOfOneBeta) {
  const auto maps = torch::rand({3, 2, 36}, torch::kFloat64);
  const auto own = unit_templates(cell_distances(6, TemplateShape::l1), torch::tensor({3.0, 5.0}));
  const auto peaks = torch::tensor({{0, 7}, {35, 8}, {1, 20}}, torch::kInt64);
  for (int64_t filter = 0; filter < 2; ++filter) {
    const auto one = unit_templates(6, with_beta(filter == 0 ? 3.0 : 5.0));
    const auto same = [&](const Tensor& per_filter, const Tensor& plain) {
      const auto difference = per_filter.select(1, filter) - plain.select(1, filter);
      EXPECT_LT(difference.abs().max().item<double>(), 1e-6);  // beta given as float32
    };
    same(templates_at(peaks, own), templates_at(peaks, one));
    same(template_fits(maps, own), template_fits(maps, one));
    same(template_mixture(maps, own), template_mixture(maps, one));
  }
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
