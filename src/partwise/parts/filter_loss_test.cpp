#include "partwise/parts/filter_loss.h"

#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/gradient_check_fixture.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::parts {
namespace {

constexpr int64_t kSide = 4;
constexpr int64_t kCells = kSide * kSide;

Tensor templates() {
  return unit_templates(kSide, {});
}
Tensor some_maps(int64_t batch, int64_t filters) {
  torch::manual_seed(11);
  return torch::rand({batch, filters, kCells}, torch::kFloat64).pow(2) * 3.0;
}

// -MI by the definition, with Z and p(x) taken from `reference` where they are frozen.
double loss_with_frozen(const Tensor& maps, const Tensor& reference, Frozen frozen, double tau) {
  const auto scores = [&](const Tensor& x) {
    return tau * torch::cat({x.matmul(templates().t()), -x.sum(2, true)}, 2);
  };
  const auto likelihood = paper_likelihood(kSide);
  auto prior = torch::full({kCells + 1}, likelihood.alpha / kCells, torch::kFloat64);
  prior[kCells] = 1.0 - likelihood.alpha;
  const auto partition = scores(frozen == Frozen::nothing ? maps : reference).exp().sum(0, true);
  const auto conditional = scores(maps).exp() / partition;
  const bool marginal_frozen = frozen == Frozen::partition_and_marginal;
  const auto source = marginal_frozen ? scores(reference).exp() / partition : conditional;
  const auto marginal = (prior * source).sum(2, true);
  return -(prior * conditional * (conditional / marginal).log()).sum().item<double>();
}

// Test 3 of the method: the three gradients against central differences, soft and sharp.
TEST(FilterLoss, EachGradientMatchesCentralDifferencesOfWhatItFreezes) {
  const auto maps = some_maps(5, 2);
  for (const double sharpness : {0.5, 8.0}) {
    auto likelihood = paper_likelihood(kSide);
    likelihood.tau = sharpness / kCells;
    for (const auto frozen : {Frozen::nothing, Frozen::partition, Frozen::partition_and_marginal}) {
      const auto numeric = tensors::numeric_gradient(
          [&](const Tensor& x) { return loss_with_frozen(x, maps, frozen, likelihood.tau); }, maps);
      const auto analytic = filter_loss_gradient(maps, templates(), likelihood, frozen);
      EXPECT_LT((numeric - analytic).abs().max().item<double>(), 1e-6);
    }
  }
}

TEST(FilterLoss, AStepAlongTheMinusSignLowersItAndThePrintedSignRaisesIt) {
  const auto maps = some_maps(6, 1);
  const auto likelihood = paper_likelihood(kSide);
  const auto value = [&](const Tensor& x) {
    return filter_loss(x, templates(), likelihood).loss.item<double>();
  };
  const auto gradient = filter_loss_gradient(maps, templates(), likelihood, Frozen::nothing);
  EXPECT_LT(value(maps - 0.1 * gradient), value(maps));
  EXPECT_GT(value(maps + 0.1 * gradient), value(maps));
}

// Test 4: Eqn (understand) holds with H(Omega+|X=x) = - sum p log p.
TEST(FilterLoss, IsTheSumOfItsThreeTerms) {
  for (const double scale : {1e-3, 1.0, 30.0}) {
    const auto parts = filter_loss(some_maps(7, 3) * scale, templates(), paper_likelihood(kSide));
    const auto sum = -parts.prior_entropy + parts.category_entropy + parts.spatial_entropy;
    EXPECT_LT((parts.loss - sum).abs().max().item<double>(), 1e-10) << scale;
  }
}

// The paper's displayed H(Omega+ | X = x) = sum p~ log p~, from the joint distribution written out.
TEST(FilterLoss, IsTheSumOfItsTermsOnlyWithTheMinusThePaperLeavesOut) {
  const auto maps = some_maps(7, 3);
  const auto likelihood = paper_likelihood(kSide);
  const auto parts = filter_loss(maps, templates(), likelihood);
  const auto fits = torch::cat({maps.matmul(templates().t()), -maps.sum(2, true)}, 2);
  const auto given = (likelihood.tau * fits).softmax(0);  // p(x | mu), over the images
  const auto joint = given.slice(2, 0, kCells) * (likelihood.alpha / kCells);
  const auto mass = joint.sum(2, true);  // p(Omega+, x)
  const auto share = joint / mass;
  const auto displayed = (mass * share * share.log()).sum(2).sum(0);
  EXPECT_LT(displayed.max().item<double>(), -2.0);  // no entropy is negative: about -log 16
  const auto others = -parts.prior_entropy + parts.category_entropy;
  EXPECT_LT((parts.loss - (others - displayed)).abs().max().item<double>(), 1e-10);
  EXPECT_GT((parts.loss - (others + displayed)).abs().min().item<double>(), 4.0);
}

double cosine(const Tensor& a, const Tensor& b) {
  return ((a * b).sum() / (a.norm() * b.norm())).item<double>();
}

TEST(FilterLoss, KeepsItsGradientsDirectionUnderAFrozenZOnlyWhileTheTemplatesAreSoft) {
  const auto maps = some_maps(12, 1);
  const auto alignment = [&](double sharpness) {
    auto likelihood = paper_likelihood(kSide);
    likelihood.tau = sharpness / kCells;
    return cosine(filter_loss_gradient(maps, templates(), likelihood, Frozen::partition),
                  filter_loss_gradient(maps, templates(), likelihood, Frozen::nothing));
  };
  EXPECT_GT(alignment(0.5), 0.95);
  EXPECT_LT(alignment(30.0), 0.7);
}

// The paper drops all but one term of Eqn (grad) because "e^{tr(x T_mu-hat)} >> e^{tr(x T_mu)}".
TEST(FilterLoss, NoTemplateDominatesAtThePapersTau) {
  const auto maps = some_maps(6, 1);  // activations up to 3
  const auto fits = paper_likelihood(kSide).tau * template_fits(maps, templates());
  EXPECT_LT((fits.amax(2) - fits.amin(2)).exp().max().item<double>(), 3.0);
}

TEST(FilterLoss, LiesBetweenTheBoundsOfMutualInformation) {
  for (const double scale : {0.0, 1.0, 100.0, 1e4}) {
    const auto information =
        -filter_loss(some_maps(9, 2) * scale, templates(), paper_likelihood(kSide)).loss;
    EXPECT_GE(information.min().item<double>(), -1e-12) << scale;
    const double most = std::min(std::log(9.0), std::log(kCells + 1.0));
    EXPECT_LE(information.max().item<double>(), most + 1e-12) << scale;
  }
}

// Maps that only become louder have more mutual information: descent of -MI need not move them.
TEST(FilterLoss, FallsAsTheSameMapsGetLouder) {
  torch::manual_seed(31);
  const auto maps = torch::rand({12, 3, 36}, torch::kFloat64);
  const auto templates = unit_templates(6, PartOptions{});
  auto before = filter_loss(maps, templates, paper_likelihood(6)).loss;
  for (const double scale : {10.0, 100.0, 1000.0}) {
    const auto louder = filter_loss(maps * scale, templates, paper_likelihood(6)).loss;
    EXPECT_TRUE((louder < before).all().item<bool>()) << scale;
    before = louder;
  }
  EXPECT_LT(before.max().item<double>(), -0.5);  // against -0.00005 before
}

TEST(FilterLoss, GradientIsFiniteAtEveryActivationScale) {
  for (const double scale : {0.0, 1e-3, 1.0, 1e4}) {
    for (const int64_t batch : {1, 6}) {
      const auto maps = (some_maps(batch, 2) * scale).to(torch::kBFloat16);
      const auto gradient =
          filter_loss_gradient(maps, templates(), paper_likelihood(kSide), Frozen::nothing);
      EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << scale;
    }
  }
}

TEST(FilterLoss, ThePapersPriorMakesAllTemplatesEquallyLikely) {
  const auto likelihood = paper_likelihood(14);
  EXPECT_NEAR(likelihood.alpha / 196.0, 1.0 - likelihood.alpha, 1e-15);
}

}  // namespace
}  // namespace partwise::parts
