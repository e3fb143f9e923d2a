#include "partwise/parts/filter_gradient.h"

#include "partwise/parts/filter_loss.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace partwise::parts {
namespace {

constexpr int64_t kSide = 14;

const auto kRules = values_of<Rule>();

PartOptions with_rule(Rule rule, Exponent exponent = Exponent::scale_free) {
  PartOptions options;
  options.rule = rule;
  options.exponent = exponent;
  return options;
}

FilterBatch batch_of(const Tensor& maps, const Tensor& positive, const PartOptions& options = {}) {
  const auto count = positive.sum(0).clamp_min(1);
  const auto scale = (maps.to(torch::kFloat64).amax({2, 3}) * positive).sum(0) / count;
  FilterBatch batch{maps.flatten(2),
                    peak_cells(maps, options),
                    positive,
                    unit_templates(maps.size(2), options),
                    scale.clamp_min(1e-12),
                    {}};
  batch.log_partition = log_mean_fits(batch, options);  // as after a first batch
  return batch;
}

Tensor mostly_positive(int64_t batch, int64_t filters) {
  auto positive = torch::ones({batch, filters}, torch::kBool);
  positive.slice(0, batch - batch / 4).fill_(false);
  return positive;
}

// Test 5: the release's rule in plain arithmetic, exponentials and all.
TEST(FilterGradient, OfTheReleaseEqualsItsFormulaWrittenOut) {
  torch::manual_seed(5);
  auto options = with_rule(Rule::release);
  options.misfits = Misfits::ignored;
  const double temperature = temperature_of(options);
  const auto maps = torch::rand({5, 2, 4, 4}, torch::kFloat64);
  const auto positive = mostly_positive(5, 2);  // four positives, one negative
  const auto batch = batch_of(maps, positive, options);
  const auto gradient = filter_gradient(batch, options).gradient;
  const double scale = batch.scale[1].item<double>();
  const auto fit = [&](int64_t k, int64_t cell) {
    return (maps[k][1].flatten() * batch.templates[cell]).mean().item<double>() / scale /
           temperature;
  };
  const auto cell = [&](int64_t k, int64_t f) { return batch.peaks[k][f].item<int64_t>(); };
  double z = 0.0;  // filter 1, all images; the other template is that of image 4-k, filter 0
  for (int64_t k = 0; k < 5; ++k) z += std::exp(fit(k, cell(4 - k, 0))) / 5.0;
  std::vector<double> raw;
  double mean = 0.0;
  for (int64_t k = 0; k < 4; ++k) {
    const double u = fit(k, cell(k, 1));
    raw.push_back(std::exp(u) * std::max(u - std::log(z) + 1.0, 0.0));
    mean += raw.back() / 4.0;
  }
  for (int64_t k = 0; k < 4; ++k) {
    const double w = std::min(raw[static_cast<std::size_t>(k)] / mean, 10.0);
    const auto expected = -(0.5 / 4.0) * w * batch.templates[cell(k, 1)] / scale;
    EXPECT_LT((gradient[k][1] - expected).abs().max().item<double>(), 1e-12) << k;
  }
  // a single negative has weight 1: it is pushed down evenly
  EXPECT_LT((gradient[4][1] - 0.5 / scale).abs().max().item<double>(), 1e-12);
}

// The authors' code, loop by loop: alpha = 0.5, log Z over all images of the batch for both terms,
// omega from the data set's shares, no limit, no guard; divided by the batch as the task loss is.
TEST(FilterGradient, OfTheReleaseAsPublishedIsTheAuthorsArithmetic) {
  torch::manual_seed(25);
  const auto options = method_options(Method::release);
  constexpr int64_t kImages = 7;
  constexpr int64_t kFilters = 3;
  const auto maps = torch::rand({kImages, kFilters, 5, 5}, torch::kFloat64) * 3.0;
  const auto positive = mostly_positive(kImages, kFilters);
  auto batch = batch_of(maps, positive, options);
  const std::vector<double> share{0.2, 0.5, 0.7};
  batch.share = torch::tensor(share, torch::kFloat64);
  const auto gradient = filter_gradient(batch, options).gradient;
  constexpr double kAlpha = 0.5;
  const auto shape = [&](int64_t k, int64_t f) {
    return batch.templates[batch.peaks[k][f].item<int64_t>()];
  };
  const auto strength = [&](int64_t k, int64_t f, const Tensor& with) {
    return (maps[k][f].flatten() * with).mean().item<double>();
  };
  const auto silent = -torch::ones({25}, torch::kFloat64);
  for (int64_t f = 0; f < kFilters; ++f) {
    double pos = 0.0;
    double neg = 0.0;
    for (int64_t k = 0; k < kImages; ++k) {
      pos += std::exp(strength(k, f, shape(kImages - 1 - k, kFilters - 1 - f)) / kAlpha) / kImages;
      neg += std::exp(strength(k, f, silent) / kAlpha) / kImages;
    }
    for (const bool own : {true, false}) {
      std::vector<double> w(kImages);
      double sum = 0.0;
      double count = 0.0;
      for (int64_t k = 0; k < kImages; ++k) {
        if (positive[k][f].item<bool>() != own) continue;
        const double s = strength(k, f, own ? shape(k, f) : silent);
        const double log_z = kAlpha * std::log(own ? pos : neg);
        w[static_cast<std::size_t>(k)] = std::exp(s / kAlpha) * (s - log_z + kAlpha);
        sum += w[static_cast<std::size_t>(k)];
        count += 1.0;
      }
      const double rho = share[static_cast<std::size_t>(f)];
      const double omega = own ? 0.5 / rho : 0.5 / (1.0 - rho);
      for (int64_t k = 0; k < kImages; ++k) {
        if (positive[k][f].item<bool>() != own) continue;
        const double weight = w[static_cast<std::size_t>(k)] / (sum / count) * omega / kImages;
        const auto expected = -weight * (own ? shape(k, f) : silent);
        EXPECT_LT((gradient[k][f] - expected).abs().max().item<double>(), 1e-12) << k << ' ' << f;
      }
    }
  }
  batch.share = Tensor();  // a binary task: omega = 1
  const auto plain = filter_gradient(batch, options).gradient;
  EXPECT_LT((plain[0][0] * (0.5 / 0.2) - gradient[0][0]).abs().max().item<double>(), 1e-12);
}

// Eqn (grad) with its minus: p(mu) tau e^{tr x T} / Z {tr x T - log Z - log p(x)}, p(x) by its
// definition and as 1 / N.
TEST(FilterGradient, OfThePaperEqualsItsEquationWrittenOut) {
  torch::manual_seed(15);
  auto options = method_options(Method::paper);
  const auto maps = torch::rand({6, 1, 4, 4}, torch::kFloat64) * 5.0;
  const auto positive = mostly_positive(6, 1);
  const double tau = 0.5 / 16.0;
  const auto silent = -torch::ones({16}, torch::kFloat64);
  for (const auto marginal : values_of<Marginal>()) {
    options.marginal = marginal;
    const auto batch = batch_of(maps, positive, options);
    const auto gradient = filter_gradient(batch, options).gradient;
    const auto trace = [&](const Tensor& shape) {
      return tau * maps.flatten(2).select(1, 0).matmul(shape);
    };
    for (int64_t k = 0; k < 6; ++k) {
      double p = 0.0;  // p(x_k) = sum over the 17 templates of p(mu) p(x|mu)
      for (int64_t mu = 0; mu <= 16; ++mu) {
        const auto e = trace(mu < 16 ? batch.templates[mu] : silent).exp();
        p += (e[k] / e.sum()).item<double>() / 17.0;
      }
      if (marginal == Marginal::uniform) p = 1.0 / 6.0;
      const auto shape =
          positive[k][0].item<bool>() ? batch.templates[batch.peaks[k][0].item<int64_t>()] : silent;
      const double z = trace(shape).exp().sum().item<double>();
      const double s = trace(shape)[k].item<double>();
      const auto expected = -(tau * shape / 17.0) * std::exp(s) / z * (s - std::log(z * p));
      EXPECT_LT((gradient[k][0] - expected).abs().max().item<double>(), 1e-14)
          << k << word_of(marginal);
    }
  }
}

TEST(FilterGradient, OfAllTemplatesIsTheGradientWithZFrozenWhateverTheLabels) {
  torch::manual_seed(17);
  auto options = method_options(Method::paper);
  options.rule = Rule::paper_all;
  const auto maps = torch::rand({6, 2, 4, 4}, torch::kFloat64) * 4.0;
  const auto expected = filter_loss_gradient(maps.flatten(2), unit_templates(4, options),
                                             paper_likelihood(4), Frozen::partition);
  for (const auto& positive : {mostly_positive(6, 2), mostly_positive(6, 2).logical_not()}) {
    const auto gradient = filter_gradient(batch_of(maps, positive, options), options).gradient;
    EXPECT_LT((gradient - expected).abs().max().item<double>(), 1e-14);
  }
  EXPECT_GT(expected.abs().max().item<double>(), 1e-6);
}

TEST(FilterGradient, OfTheExactRuleIsTheGradientOfMinusMiWhateverTheLabels) {
  torch::manual_seed(16);
  const auto options = with_rule(Rule::exact, Exponent::raw);
  const auto maps = torch::rand({6, 2, 4, 4}, torch::kFloat64);
  const auto gradient = filter_gradient(batch_of(maps, mostly_positive(6, 2)), options).gradient;
  const auto swapped =
      filter_gradient(batch_of(maps, mostly_positive(6, 2).logical_not()), options).gradient;
  const auto expected = filter_loss_gradient(maps.flatten(2), unit_templates(4, options),
                                             paper_likelihood(4), Frozen::nothing);
  EXPECT_TRUE(torch::equal(gradient, expected));
  EXPECT_TRUE(torch::equal(swapped, expected));
}

// The weight of every image by the rule's formula, exponent raw, in plain arithmetic; every filter
// has positives and negatives.  [batch, filter]
Tensor weights_written_out(const FilterBatch& batch, const PartOptions& options) {
  const auto cells = static_cast<double>(batch.maps.size(2));
  const auto images = static_cast<double>(batch.maps.size(0));
  const double temperature = temperature_of(options);
  const auto fit_to = [&](const Tensor& part) { return (batch.maps * part).mean(2) / temperature; };
  const auto silence = -batch.maps.mean(2) / temperature;
  const auto u =
      torch::where(batch.positive, fit_to(templates_at(batch.peaks, batch.templates)), silence);
  const auto alike =
      batch.positive.unsqueeze(0).eq(batch.positive.unsqueeze(1)).to(torch::kFloat64);
  const auto mean_of_alike = [&](const Tensor& numbers) {  // over images of the same sign
    return (alike * numbers.unsqueeze(0)).sum(1) / alike.sum(1);
  };
  const auto balance = 0.5 * images / alike.sum(1);
  if (options.rule == Rule::paper) {
    const auto cell = torch::where(batch.positive, batch.peaks,
                                   torch::full_like(batch.peaks, static_cast<int64_t>(cells)));
    const auto log_z = batch.log_partition.expand({batch.maps.size(0), -1, -1})
                           .gather(2, cell.unsqueeze(2))
                           .squeeze(2);
    const auto v = u - log_z;
    const double prior_and_tau = 1.0 / (cells + 1.0) / (temperature * cells);
    const auto all = torch::cat({template_fits(batch.maps, batch.templates) / cells / temperature,
                                 silence.unsqueeze(2)},
                                2) -
                     batch.log_partition;
    const auto marginal = all.exp().mean(2).log();  // N p(x)
    return (v.exp() * (v - marginal)).clamp_min(0.0) * balance * prior_and_tau / images;
  }
  const auto foreign = templates_at(batch.peaks.flip({0}), batch.templates).flip({1});
  const auto log_z = torch::where(batch.positive, fit_to(foreign).exp().mean(0, true).log(),
                                  silence.exp().mean(0, true).log());
  const auto raw = u.exp() * (u - log_z + 1.0).clamp_min(0.0);
  return (raw / mean_of_alike(raw)).clamp_max(10.0) * balance / images;
}

// Test 5: with weights and templates held constant, both label rules are plain autograd.
TEST(FilterGradient, OfALabelRuleIsAutogradOfItsLinearSurrogate) {
  torch::manual_seed(17);
  for (const auto rule : {Rule::paper, Rule::release}) {
    auto options = with_rule(rule, Exponent::raw);
    options.misfits = Misfits::ignored;
    const auto maps = torch::rand({8, 3, 5, 5}, torch::kFloat64).requires_grad_();
    const auto positive = mostly_positive(8, 3);
    const auto batch = batch_of(maps.detach(), positive, options);
    const auto own = templates_at(batch.peaks, batch.templates);
    const auto target = torch::where(positive.unsqueeze(2), own, -torch::ones_like(own));
    const auto weight = weights_written_out(batch, options);
    EXPECT_GT(weight.max().item<double>(), 0.0) << word_of(rule);
    (-(weight * (maps.flatten(2) * target).sum(2)).sum()).backward();
    const auto gradient = filter_gradient(batch, options).gradient;
    EXPECT_LT((maps.grad().flatten(2) - gradient).abs().max().item<double>(), 1e-14)
        << word_of(rule);
  }
}

TEST(FilterGradient, IsTheSameAtEveryActivationScaleUnderAScaleFreeExponent) {
  torch::manual_seed(2);
  const auto maps = torch::rand({8, 3, kSide, kSide}, torch::kFloat64);
  const auto positive = mostly_positive(8, 3);
  for (const auto rule : kRules) {
    const auto options = with_rule(rule);
    const auto at_one = filter_gradient(batch_of(maps, positive, options), options).gradient;
    for (const double scale : {1e-3, 10.0, 1e4}) {
      const auto scaled =
          filter_gradient(batch_of(maps * scale, positive, options), options).gradient;
      EXPECT_LT((scaled * scale - at_one).abs().max().item<double>(), 1e-9)
          << word_of(rule) << scale;  // dLoss/dx, not dLoss/dx^
    }
  }
}

// The naive e^u overflows float32 from u = 89 on; at scale 1e4 u reaches thousands.
TEST(FilterGradient, IsFiniteForEveryRuleScaleTypeAndOddBatch) {
  torch::manual_seed(4);
  for (const auto rule : kRules) {
    for (const auto exponent : values_of<Exponent>()) {
      for (const auto type : {torch::kFloat32, torch::kFloat16, torch::kBFloat16}) {
        for (const double scale : {0.0, 1e-3, 1.0, 1e4}) {
          for (const int64_t images : {1, 2, 9}) {
            const auto maps = (torch::rand({images, 3, 6, 6}) * scale).to(type);
            for (const bool value : {false, true}) {  // no positives; no negatives
              const auto positive = torch::full({images, 3}, value, torch::kBool);
              auto options = with_rule(rule, exponent);
              for (const auto misfits : values_of<Misfits>()) {
                options.misfits = misfits;
                const auto result = filter_gradient(batch_of(maps, positive, options), options);
                EXPECT_TRUE(result.gradient.isfinite().all().item<bool>())
                    << word_of(rule) << word_of(exponent) << type << ' ' << scale << ' ' << images
                    << value;
                EXPECT_TRUE(result.effective_samples.isfinite().item<bool>());
              }
            }
          }
        }
      }
    }
  }
}

TEST(FilterGradient, SwapsRolesWhenLabelsAreSwapped) {
  torch::manual_seed(21);
  const auto maps = torch::rand({6, 1, 5, 5}, torch::kFloat64);
  const auto positive = mostly_positive(6, 1);
  for (const auto rule : {Rule::paper, Rule::release}) {
    const auto options = with_rule(rule, Exponent::raw);
    const auto plain = filter_gradient(batch_of(maps, positive, options), options).gradient;
    const auto swapped =
        filter_gradient(batch_of(maps, positive.logical_not(), options), options).gradient;
    const auto spread = [](const Tensor& g) { return (g.amax(2) - g.amin(2)).flatten(); };
    const auto was_positive = positive.flatten();
    // an even push is what an image of another category gets; a shaped one, what its own does
    EXPECT_EQ(spread(plain).masked_select(was_positive.logical_not()).max().item<double>(), 0.0);
    EXPECT_EQ(spread(swapped).masked_select(was_positive).max().item<double>(), 0.0);
    EXPECT_GT(spread(plain).masked_select(was_positive).max().item<double>(), 0.0);
    EXPECT_GT(spread(swapped).masked_select(was_positive.logical_not()).max().item<double>(), 0.0);
  }
}

// The release takes log Z from the templates of the mirrored filter: only a reversal keeps its
// partners.
TEST(FilterGradient, PermutingFiltersPermutesTheResult) {
  torch::manual_seed(6);
  const auto maps = torch::rand({6, 4, 5, 5}, torch::kFloat64);
  const auto positive = mostly_positive(6, 4);
  for (const auto rule : kRules) {
    const auto options = with_rule(rule);
    const auto order = rule == Rule::release ? torch::tensor({3, 2, 1, 0}, torch::kInt64)
                                             : torch::tensor({2, 0, 3, 1}, torch::kInt64);
    const auto plain = filter_gradient(batch_of(maps, positive, options), options).gradient;
    const auto permuted =
        filter_gradient(batch_of(maps.index_select(1, order), positive, options), options).gradient;
    EXPECT_LT((permuted - plain.index_select(1, order)).abs().max().item<double>(), 1e-12)
        << word_of(rule);
  }
}

}  // namespace
}  // namespace partwise::parts
