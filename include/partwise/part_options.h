#pragma once

#include <cstdint>

namespace partwise::parts {

// A named set of the options below: ours, and the two that were published.
enum class Method { partwise, paper, release };

// The words of the command line and of options.json are these, with '-' for '_'.
enum class Layers { both, first, only_new };  // "new": the backbone's top layer is left ordinary
enum class MaskPlace { before_pooling, after_pooling };
enum class BetaRule { fixed, learned };
enum class TemplateShape { l1, l2 };
enum class Peak { argmax, centroid };
enum class Rule { paper, paper_all, release, exact };  // "paper-all"
enum class Exponent { scale_free, raw };
enum class Marginal { definition, uniform };
enum class Misfits { ignored, reversed };
enum class Balance { category, dataset, none };
enum class Assignment { absolute, relative, peak, balanced };
enum class StrengthUnit { filter_share, layer_share, peak, absolute };
enum class StrengthSchedule { constant, inverse, linear };
enum class Loudness { free, kept };
enum class Guard { on, off };

// The interpretable layers of a network: what a template is, how a filter is pushed towards one,
// how hard, and where. docs/paper.md says where each comes from; parts/filter_gradient.h has the
// formulas.
struct PartOptions {
  Method method = Method::partwise;  // where the others come from: a name, not a switch
  Layers layers = Layers::both;      // interpretable: backbone's top, the new one, both
  MaskPlace mask_place = MaskPlace::before_pooling;  // of the new layer; the release masks after it
  int64_t new_kernel = 3;                            // side of the new layer's kernels; paper: 3
  double mask_warmup = 0.0;  // share of the training over which the masks come into force
  double beta = 4.0;         // paper: "beta ~= 4"
  BetaRule beta_rule = BetaRule::fixed;
  TemplateShape template_shape = TemplateShape::l1;  // the paper also allows a round template
  Peak peak = Peak::argmax;  // paper; the authors' release uses the centroid
  Rule rule = Rule::release;
  Exponent exponent = Exponent::scale_free;      // paper and release: raw
  double temperature = 0.0;                      // a in u = mean(x U) / a; 0: see temperature_of
  Marginal marginal = Marginal::definition;      // p(x) in the paper's rules
  Misfits misfits = Misfits::reversed;           // paper and release, too
  double weight_limit = 10.0;                    // of one image; 0: none (paper and release)
  Balance balance = Balance::category;           // paper: none; release: dataset
  Assignment assignment = Assignment::balanced;  // paper: absolute; release: peak
  double strength = 0.03;                        // 0: mask only, without vote and keep_alive too
  StrengthUnit strength_unit = StrengthUnit::filter_share;
  StrengthSchedule schedule = StrengthSchedule::constant;  // over epochs t = 1, 2, ...
  Loudness loudness = Loudness::kept;                      // paper and release: free
  double vote = 0.3;                                       // paper and release: 0
  double keep_alive = 0.03;                                // paper and release: 0
  Guard guard = Guard::on;                                 // paper and release: off
  double scale_memory = 0.9;      // of the running E[max x] and the running spread
  double partition_memory = 0.9;  // of the paper's running Z
  double category_memory = 0.99;  // of the running per-category sum of x

  static auto fields();  // the program's own: names, help and ranges
};

// The whole set of a method; change single options afterwards.
PartOptions method_options(Method method);

}  // namespace partwise::parts
