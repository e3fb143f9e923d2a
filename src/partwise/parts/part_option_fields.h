#pragma once

#include "partwise/base/options.h"
#include "partwise/part_options.h"

#include <string>

namespace partwise {

// One table per word option: its valid words, in the order of the enum in part_options.h.
template <>
inline constexpr auto kWords<parts::Method> = words("partwise", "paper", "release");
template <>
inline constexpr auto kWords<parts::Layers> = words("both", "first", "new");
template <>
inline constexpr auto kWords<parts::MaskPlace> = words("before-pooling", "after-pooling");
template <>
inline constexpr auto kWords<parts::BetaRule> = words("fixed", "learned");
template <>
inline constexpr auto kWords<parts::TemplateShape> = words("l1", "l2");
template <>
inline constexpr auto kWords<parts::Peak> = words("argmax", "centroid");
template <>
inline constexpr auto kWords<parts::Rule> = words("paper", "paper-all", "release", "exact");
template <>
inline constexpr auto kWords<parts::Exponent> = words("scale-free", "raw");
template <>
inline constexpr auto kWords<parts::Marginal> = words("definition", "uniform");
template <>
inline constexpr auto kWords<parts::Misfits> = words("ignored", "reversed");
template <>
inline constexpr auto kWords<parts::Balance> = words("category", "dataset", "none");
template <>
inline constexpr auto kWords<parts::Assignment> = words("absolute", "relative", "peak", "balanced");
template <>
inline constexpr auto kWords<parts::StrengthUnit> =
    words("filter-share", "layer-share", "peak", "absolute");
template <>
inline constexpr auto kWords<parts::StrengthSchedule> = words("constant", "inverse", "linear");
template <>
inline constexpr auto kWords<parts::Loudness> = words("free", "kept");
template <>
inline constexpr auto kWords<parts::Guard> = words("on", "off");

}  // namespace partwise

namespace partwise::parts {

inline auto PartOptions::fields() {
  using O = PartOptions;
  using Number = Field<O, double>;
  using Count = Field<O, int64_t>;
  return std::tuple{
      Field{"method", &O::method,
            "the whole set of the options below, ours or as published; single ones beside it win"},
      Field{"layers", &O::layers, "which layers are interpretable"},
      Field{"mask_place", &O::mask_place, "of the new layer's mask"},
      Count{"new_kernel", &O::new_kernel, "side of the new layer's kernels, odd", 1, 15},
      Number{"mask_warmup", &O::mask_warmup,
             "share of the training over which the masks come into force", 0.0, 1.0},
      Number{"beta", &O::beta, "template fall-off per step, times n", 1e-3, 100.0},
      Field{"beta_rule", &O::beta_rule, "beta as given, or from each filter's spread"},
      Field{"template_shape", &O::template_shape, "distance in a template"},
      Field{"peak", &O::peak, "a map's part location"},
      Field{"rule", &O::rule, "gradient of the filter loss"},
      Field{"exponent", &O::exponent, "of the fit: of x / E[max x], or of x itself"},
      Number{"temperature", &O::temperature,
             "how mildly the best-fitting images are preferred (0: the rule's own)", 0.0, 1e4},
      Field{"marginal", &O::marginal,
            "p(x) in the paper's rules: the sum over all templates, or 1 / N"},
      Field{"misfits", &O::misfits,
            "images that fit far worse than the average: no push, or a reversed one"},
      Number{"weight_limit", &O::weight_limit,
             "largest weight of an image, whose mean is 1, in rule release (0: none)", 0.0, 1e6},
      Field{"balance", &O::balance,
            "images of the filter's category and others: half the weight each (by the batch's or "
            "the data set's numbers), or by number"},
      Field{"assignment", &O::assignment,
            "a filter's category: the one it fires most for (by sum or by peak), the one most of "
            "whose activation is its own, or that with equal numbers of filters for all"},
      Number{"strength", &O::strength, "of the filter loss (0: mask only)", 0.0, 1e6},
      Field{"strength_unit", &O::strength_unit,
            "share of each filter's or the layer's task gradient, a factor of E[max x] (paper), "
            "or absolute (release)"},
      Field{"schedule", &O::schedule,
            "strength over the epochs t: constant, 1/t (paper), or falling to 0"},
      Field{"loudness", &O::loudness,
            "may the filter loss make a filter louder or quieter as a whole, or only move its "
            "activations"},
      Number{
          "vote", &O::vote,
          "weight of the vote of all filters on the image's category, where there are several (0: "
          "none)",
          0.0, 1e3},
      Number{
          "keep_alive", &O::keep_alive,
          "share of its task gradient by which a filter that falls silent is raised, where there "
          "are several categories (0: none)",
          0.0, 1e3},
      Field{"guard", &O::guard,
            "soften the filter loss while it silences the layer or makes it ever louder"},
      Number{"scale_memory", &O::scale_memory, "memory of E[max x]", 0.0, 0.9999},
      Number{"partition_memory", &O::partition_memory, "memory of the paper's Z", 0.0, 0.9999},
      Number{"category_memory", &O::category_memory, "memory of the category statistics", 0.0,
             0.9999},
  };
}

// The options a JSON object asks for: those of its method, then the single ones it names.
PartOptions part_options_from(const nlohmann::json& json, const std::string& place);

// The options a run has recorded, with what did not exist when an older program recorded them: such
// options are as that program acted.
nlohmann::json completed_record(nlohmann::json record);

// a in u = mean(x U) / a. The paper's tau = 0.5 / n^2 is a = 2, the release's is 0.5; relative to
// E[max x], 0.05 serves every net.
double temperature_of(const PartOptions& options);

}  // namespace partwise::parts
