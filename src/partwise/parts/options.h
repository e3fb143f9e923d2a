#pragma once

#include "partwise/base/options.h"

namespace partwise::parts {

// The interpretable layers of a network: what a template is, how a filter is pushed towards one,
// how hard, and where.
struct PartOptions {
  std::string layers = "both";                // interpretable: backbone's top, the new one, or both
  std::string mask_place = "before-pooling";  // of the new layer; the release masks after pooling
  double beta = 4.0;                          // paper: "beta ~= 4"
  std::string beta_rule = "fixed";
  std::string template_shape = "l1";  // the paper also allows a round template
  std::string peak = "argmax";        // paper; the authors' release uses the centroid
  std::string rule = "release";
  std::string exponent = "scale-free";  // paper and release: raw
  double temperature = 0.0;             // a in u = mean(x U) / a; 0: see temperature_of
  std::string misfits = "ignored";      // paper and release: reversed
  std::string balance = "category";     // paper: none
  std::string assignment = "absolute";  // paper
  double strength = 0.015;              // 0: mask only
  std::string strength_unit = "filter-share";
  std::string schedule = "constant";  // of the strength over epochs t = 1, 2, ...
  std::string loudness = "free";      // paper and release
  std::string guard = "on";
  double scale_memory = 0.9;      // of the running E[max x] and the running spread
  double partition_memory = 0.9;  // of the paper's running Z
  double category_memory = 0.99;  // of the running per-category sum of x

  static auto fields() {
    using O = PartOptions;
    using Number = Field<O, double>;
    using Word = Field<O, std::string>;
    return std::tuple{
        Word{"layers", &O::layers, "which layers are interpretable", {"both", "first", "new"}},
        Word{"mask_place",
             &O::mask_place,
             "of the new layer's mask",
             {"before-pooling", "after-pooling"}},
        Number{"beta", &O::beta, "template fall-off per step, times n", 1e-3, 100.0},
        Word{"beta_rule",
             &O::beta_rule,
             "beta as given, or from each filter's spread",
             {"fixed", "learned"}},
        Word{"template_shape", &O::template_shape, "distance in a template", {"l1", "l2"}},
        Word{"peak", &O::peak, "a map's part location", {"argmax", "centroid"}},
        Word{"rule", &O::rule, "gradient of the filter loss", {"paper", "release", "exact"}},
        Word{"exponent",
             &O::exponent,
             "of the fit: of x / E[max x], or of x itself",
             {"scale-free", "raw"}},
        Number{"temperature", &O::temperature,
               "how mildly the best-fitting images are preferred (0: the rule's own)", 0.0, 1e4},
        Word{"misfits",
             &O::misfits,
             "images that fit far worse than the average: no push, or a reversed one",
             {"ignored", "reversed"}},
        Word{"balance",
             &O::balance,
             "images of the filter's category and others: half the weight each, or by number",
             {"category", "none"}},
        Word{"assignment",
             &O::assignment,
             "a filter's category: the one it fires most for, or the one most of whose activation "
             "is its own",
             {"absolute", "relative"}},
        Number{"strength", &O::strength, "of the filter loss (0: mask only)", 0.0, 1e6},
        Word{"strength_unit",
             &O::strength_unit,
             "share of each filter's or the layer's task gradient, a factor of E[max x] (paper), "
             "or absolute (release)",
             {"filter-share", "layer-share", "peak", "absolute"}},
        Word{"schedule",
             &O::schedule,
             "strength over the epochs t: constant, 1/t (paper), or falling to 0",
             {"constant", "inverse", "linear"}},
        Word{"loudness",
             &O::loudness,
             "may the filter loss make a filter louder or quieter as a whole, or only move its "
             "activations",
             {"free", "kept"}},
        Word{"guard",
             &O::guard,
             "soften the filter loss while it silences the layer",
             {"on", "off"}},
        Number{"scale_memory", &O::scale_memory, "memory of E[max x]", 0.0, 0.9999},
        Number{"partition_memory", &O::partition_memory, "memory of the paper's Z", 0.0, 0.9999},
        Number{"category_memory", &O::category_memory, "memory of the category statistics", 0.0,
               0.9999},
    };
  }
};

// a in u = mean(x U) / a. The paper's tau = 0.5 / n^2 is a = 2, the release's is 0.5; relative to
// E[max x], 0.05 serves every net.
inline double temperature_of(const PartOptions& options) {
  if (options.temperature > 0.0) return options.temperature;
  if (options.exponent == "scale-free") return 0.05;
  return options.rule == "release" ? 0.5 : 2.0;
}

}  // namespace partwise::parts
