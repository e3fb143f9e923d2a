#include "partwise/parts/fused_push.h"

#include "partwise/parts/fused_gradient.h"
#include "partwise/parts/keep_alive.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/vote.h"
#include "partwise/tensors/torch.h"
#include "partwise/tensors/torch_threads.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace partwise::parts {
namespace {

// Filters whose weights are found together, whoever finds them; fewer blocks are not worth another
// thread.
constexpr int64_t kFilterBlock = 16;
constexpr int64_t kBlocksPerThread = 4;
constexpr int64_t kImagesPerThread = 4;

// What a backward pass needs to know besides the maps.
struct Plan : torch::CustomClassHolder {
  Tensor masked;  // until it is handed out
  Tensor peaks;
  Cones cones;
  double share = 1.0;
  bool learns = false;
  MapPush push;                         // without factor and lift
  std::vector<int64_t> filters_before;  // of each tensor before the ReLU
  StrengthUnit unit = StrengthUnit::absolute;
  double strength = 0.0;  // softened
  double keep_alive = 0.0;
  Tensor need;    // [filter], or undefined: no lift
  Tensor lifted;  // [batch, filter]: 1 where a map can be lifted
  tensors::Ranks ranks;
  Tensor ratio;  // []: gets the gradient ratio added
};

template <class T>
const T* data(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

template <class Run>
auto by_type(const Tensor& values, const Run& run) {
  return values.scalar_type() == torch::kFloat64 ? run(double{}) : run(float{});
}

// Adds the numbers' sums over the images, times the weights where there are any.  [batch, filter]
// -> [filter], float64
void add_up(const Tensor& numbers, const Tensor& weights, double* sums) {
  by_type(numbers, [&](auto zero) {
    using T = decltype(zero);
    kernels::layer_kernels<T>().add_up({numbers.size(0), numbers.size(1)}, data<T>(numbers),
                                       data<T>(weights), sums);
  });
}

// sqrt of the sums over images and all ranks, of each row a tensor.  [batch, filter] -> [filter],
// float64
Tensor norms_of(const std::vector<Tensor>& squares, const tensors::Ranks& ranks) {
  const auto filters = squares[0].size(1);
  const auto sums = torch::zeros({std::ssize(squares), filters}, torch::kFloat64);
  for (std::size_t i = 0; i < squares.size(); ++i)
    add_up(squares[i], {}, sums.data_ptr<double>() + static_cast<int64_t>(i) * filters);
  return ranks.sum(sums).sqrt_();
}

// What makes of a push this share of the task gradient.
double share_of_task(const Plan& plan, double task, double push) {
  return plan.strength * task / std::max(push, kTiny);
}

double norm_of(const double* numbers, int64_t count) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; ++i) sum += numbers[i] * numbers[i];
  return std::sqrt(sum);
}

// Of norms [2, filter], the task's and the push's. Adds to the ratio.
Tensor factors(const Plan& plan, const Tensor& norms) {
  const auto filters = norms.size(1);
  const auto* task = norms.data_ptr<double>();
  const auto* push = task + filters;
  const double all_task = norm_of(task, filters);
  const double of_layer = plan.strength * all_task / std::max(norm_of(push, filters), kTiny);
  auto result = torch::empty({filters}, torch::kFloat64);
  auto* factor = result.data_ptr<double>();
  double pushed = 0.0;
  for (int64_t f = 0; f < filters; ++f) {
    switch (plan.unit) {
      case StrengthUnit::filter_share:
        factor[f] = share_of_task(plan, task[f], push[f]);
        break;
      case StrengthUnit::layer_share:
        factor[f] = of_layer;
        break;
      default:
        factor[f] = plan.strength;
    }
    pushed += factor[f] * push[f] * factor[f] * push[f];
  }
  plan.ratio.add_(std::sqrt(pushed) / std::max(all_task, kTiny));
  return result;
}

// What descent subtracts at the strongest cell and around it, [batch, filter].
Tensor lift_of(const Plan& plan, const Tensor& maps, const Tensor& task) {
  const auto squares = lift_squares_at(maps, plan.push.strongest, plan.cones, plan.lifted);
  const auto length = norms_of({squares}, plan.ranks)[0].clamp_min(kTiny);
  const auto reach = torch::maximum(task, task.median());
  return plan.lifted * (plan.keep_alive * plan.need * reach / length).to(maps.scalar_type());
}

// The gradients of what came before the ReLU: nothing but what closed cells get.
std::vector<Tensor> opened(const Plan& plan, const Tensor& maps, const Tensor& closed) {
  std::vector<Tensor> gradients(plan.filters_before.size());
  if (gradients.empty() || closed.count_nonzero().item<int64_t>() == 0) return gradients;
  const auto whole =
      torch::zeros({maps.size(0), maps.size(1), maps.size(2) * maps.size(3)}, maps.options())
          .scatter_(2, plan.push.strongest.unsqueeze(2), closed.unsqueeze(2))
          .view_as(maps);
  int64_t first = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = whole.slice(1, first, first + plan.filters_before[i]);
    first += plan.filters_before[i];
  }
  return gradients;
}

Pushed pushed_gradient(const Plan& plan, const Tensor& maps, const Tensor& gradient) {
  const torch::NoGradGuard no_grad;
  auto push = plan.push;
  Tensor norms;
  Pushed pushed;
  const bool by_filter = plan.unit == StrengthUnit::filter_share && plan.ranks.alone();
  if (by_filter && filters_in_cache(maps) > 0) {
    norms = torch::empty({2, maps.size(1)}, torch::kFloat64);
    push.factor = torch::empty({maps.size(1)}, maps.options());
    const auto factor_of = [&](double task, double own) { return share_of_task(plan, task, own); };
    pushed =
        push_by_filter(maps, gradient, plan.peaks, plan.cones, plan.share, push, factor_of, norms);
    factors(plan, norms);
  } else {
    const auto squares = squares_at(maps, gradient, plan.peaks, plan.cones, plan.share, push);
    norms = norms_of({squares.task, squares.push}, plan.ranks);
    push.factor = factors(plan, norms);
    pushed = push_at(maps, gradient, plan.peaks, plan.cones, plan.share, push);
  }
  if (plan.need.defined()) {
    push.lift = lift_of(plan, maps, norms[0]);
    lift_at(maps, plan.cones, push, pushed);
  }
  return pushed;
}

Tensor composed_mask(const Plan& plan, const Tensor& maps) {
  const auto beta = plan.cones.slopes * static_cast<double>(maps.size(2));
  const auto masks = masks_at(plan.peaks, unit_templates(plan.cones.distances, beta));
  return plan.share < 1.0 ? 1.0 - plan.share * (1.0 - masks) : masks;
}

struct MaskFunction : torch::autograd::Function<MaskFunction> {
  static Tensor forward(torch::autograd::AutogradContext* context,
                        const Tensor& maps,
                        const c10::intrusive_ptr<Plan>& plan,
                        at::TensorList /*before_relu*/) {
    context->save_for_backward({maps});
    context->saved_data["plan"] = c10::IValue::make_capsule(plan);
    return std::exchange(plan->masked, {});
  }

  static std::vector<Tensor> backward(torch::autograd::AutogradContext* context,
                                      std::vector<Tensor> gradients) {
    const auto holder = context->saved_data["plan"].toCapsule();
    const auto& plan = static_cast<const Plan&>(*holder);
    const auto maps = context->get_saved_variables()[0].detach();
    const auto& task = gradients[0];
    std::vector<Tensor> result(2 + plan.filters_before.size());
    if (!task.defined()) return result;
    const auto found = plan.learns
                           ? pushed_gradient(plan, maps, task)
                           : Pushed{masked_at(task, plan.peaks, plan.cones, plan.share), {}};
    result[0] = found.gradient;
    if (torch::GradMode::is_enabled()) {  // to be differentiated again: the push is a constant then
      const auto behind = task * composed_mask(plan, maps);
      result[0] = behind + (found.gradient - behind).detach();
    }
    if (found.closed.defined()) {
      const auto before = opened(plan, maps, found.closed);
      std::copy(before.begin(), before.end(), result.begin() + 2);
    }
    return result;
  }
};

// A batch on its way: the maps are this rank's, all else is of the whole batch.
struct Scene {
  Tensor values;                         // [own images, filter, n, n]
  Tensor squares, foreign_fits;          // [own images, filter]; the latter among these images only
  Tensor labels;                         // [images]
  Tensor peaks, tops, masses, own_fits;  // [images, filter]
  Cones cones;
  Memory::State layer;
  Tensor unit;    // [filter]: dx/dx^
  Tensor weight;  // [filter]: what the unit of strength makes of dLoss_f/dx
  double divisor = 0.0;
  const PartOptions& options;
  const tensors::Ranks& ranks;

  int64_t images() const { return labels.size(0); }
  Tensor of_all(const Tensor& own) const { return ranks.rows_of_all(own, images()).contiguous(); }
  Tensor own_rows_of(const Tensor& all) const { return own_rows(all, ranks); }
  kernels::Batch batch() const { return {images(), values.size(1), values.size(2)}; }
};

// Of every map the fit to the template of another image's and another filter's peak: both counted
// from the far end.
Tensor foreign_fits(const Scene& scene) {
  if (scene.ranks.alone()) return scene.foreign_fits;
  const Cones others{scene.cones.distances, scene.cones.slopes.flip({0})};
  return fits_at(scene.values, scene.own_rows_of(scene.peaks.flip({0, 1})), others);
}

// dLoss_f/dx: of the whole batch, [images, filter], or cell by cell.
struct Weights {
  Tensor constant;
  Tensor pull;
  Tensor dense;  // [own images, filter, n, n]
  double effective_samples = 0.0;
};

// What a rule over all templates asks; with a factor, their mixture.
TemplateRule template_rule(const Scene& scene, Memory& memory) {
  const auto& options = scene.options;
  const bool exact = options.rule == Rule::exact;
  const auto images = static_cast<double>(scene.images());
  TemplateRule rule;
  rule.inverse = ((1.0 / scene.divisor) / scene.unit).contiguous();
  // Z holds this batch with weight 1 - memory, hence the bound; only rounding can exceed it.
  rule.most = exact ? std::numeric_limits<double>::infinity()
                    : std::log(images / (1.0 - options.partition_memory));
  rule.wants_marginals = exact || options.marginal == Marginal::definition;
  rule.wants_gains = exact;
  rule.ignore_misfits = options.rule == Rule::paper_all && options.misfits == Misfits::ignored;
  if (options.rule != Rule::paper) {
    const auto templates = scene.values.size(2) * scene.values.size(3) + 1;
    rule.factor = scene.weight / (scene.unit * scene.divisor * static_cast<double>(templates));
    if (!exact) rule.factor /= images;
  }
  if (!exact && scene.ranks.alone()) rule.running = memory.about_to_see_fits();
  return rule;
}

// The same over all ranks' images. Z of the batch where the rule is exact, otherwise of the running
// mean.
TemplateSums sum_templates_of_all(const Scene& scene, const TemplateRule& rule, Memory& memory) {
  const auto& values = scene.values;
  const auto& cones = scene.cones;
  const auto shape = scene.options.template_shape;
  TemplateSums sums;
  const auto fits = all_fits(values, cones, shape);
  const auto own = log_sums_of(values, fits, rule.inverse);
  sums.log_partition = scene.ranks.logsumexp(own.unsqueeze(0)).squeeze(0).contiguous();
  if (scene.options.rule != Rule::exact) {
    memory.see_fits(sums.log_partition - std::log(static_cast<double>(scene.images())));
    sums.log_partition = memory.log_mean_fits().contiguous();
  }
  if (rule.wants_marginals) {
    // p(mu) is the same for all, mu^- included
    sums.log_marginals =
        log_marginals_of(values, fits, rule.inverse, sums.log_partition, rule.most) -
        std::log(static_cast<double>(sums.log_partition.size(1)));
  }
  if (!rule.factor.defined()) return sums;
  const auto gains = rule.wants_gains
                         ? scene.ranks.sum(gain_sums_of(values, fits, rule.inverse,
                                                        sums.log_partition, sums.log_marginals))
                         : Tensor();
  weigh_templates(values, fits, rule.inverse, sums.log_partition, rule.most, sums.log_marginals,
                  gains, rule.ignore_misfits);
  sums.mixture = mixture_of(values, fits, cones, shape, rule.factor);
  return sums;
}

// Rules paper_all and exact: the mixture of all templates.
Weights mixed_weights(const Scene& scene, const Tensor& mixture) {
  Weights weights;
  weights.dense = mixture;
  // A share: what all of a filter's weights are multiplied by does not matter.
  const auto sizes = scene.of_all(dots_of(mixture, mixture).sqrt());
  by_type(scene.values, [&](auto zero) {
    using T = decltype(zero);
    weights.effective_samples = kernels::layer_kernels<T>().effective(
        scene.batch(), scene.labels.data_ptr<int64_t>(),
        scene.layer.filter_category.data_ptr<int64_t>(), data<T>(sizes));
  });
  return weights;
}

// Of those that are not negative.
double mean_share(const std::vector<double>& shares) {
  double sum = 0.0;
  double count = 0.0;
  for (const double share : shares) {
    if (share < 0.0) continue;
    sum += share;
    count += 1.0;
  }
  return sum / std::max(count, 1.0);
}

Weights weights_of(const Scene& scene, Memory& memory, const Tensor& category_shares) {
  const auto& options = scene.options;
  Tensor foreign;
  Tensor at_peaks;
  Tensor silence;
  Tensor marginals;
  double most = 0.0;
  if (options.rule == Rule::release) {
    foreign = scene.of_all(foreign_fits(scene));
  } else {
    const auto rule = template_rule(scene, memory);
    const auto sums = scene.ranks.alone()
                          ? sum_templates(scene.values, scene.cones, options.template_shape, rule)
                          : sum_templates_of_all(scene, rule, memory);
    if (sums.mixture.defined()) return mixed_weights(scene, sums.mixture);
    const auto& log_z = sums.log_partition;
    at_peaks = log_z.gather(1, scene.peaks.t()).t().contiguous();
    silence = log_z.select(1, log_z.size(1) - 1).contiguous();
    if (sums.log_marginals.defined()) marginals = scene.of_all(sums.log_marginals);
    most = rule.most;
  }
  const auto shares = category_shares.defined()
                          ? category_shares.to(scene.values.scalar_type()).contiguous()
                          : Tensor();
  Weights weights{torch::empty_like(scene.tops), torch::empty_like(scene.tops), {}};
  by_type(scene.values, [&](auto zero) {
    using T = decltype(zero);
    const kernels::WeightRule<T> rule{scene.divisor,         options.misfits == Misfits::ignored,
                                      options.weight_limit,  options.balance == Balance::category,
                                      data<T>(shares),       data<T>(scene.unit),
                                      data<T>(scene.weight), most};
    const kernels::PeakNumbers<T> numbers{data<T>(scene.masses), data<T>(scene.own_fits),
                                          data<T>(foreign), data<T>(at_peaks), data<T>(marginals)};
    const auto& table = kernels::layer_kernels<T>();
    const auto* labels = scene.labels.data_ptr<int64_t>();
    const auto* category = scene.layer.filter_category.data_ptr<int64_t>();
    auto* constant = weights.constant.data_ptr<T>();
    auto* pull = weights.pull.data_ptr<T>();
    if (options.rule == Rule::paper) {
      weights.effective_samples = table.paper(scene.batch(), labels, category, numbers,
                                              data<T>(silence), rule, constant, pull);
      return;
    }
    const auto filters = scene.batch().filters;
    const auto blocks = (filters + kFilterBlock - 1) / kFilterBlock;
    std::vector<double> effective(static_cast<std::size_t>(filters));
    tensors::in_parallel(blocks, kBlocksPerThread, [&](int64_t begin, int64_t end) {
      const kernels::Range range{begin * kFilterBlock, std::min(end * kFilterBlock, filters)};
      table.release(scene.batch(), range, labels, category, numbers, rule, constant, pull,
                    effective.data());
    });
    weights.effective_samples = mean_share(effective);
  });
  return weights;
}

// What scales a filter's maps, all of the batch's alike, as a multiple of x.  [filter]
Tensor scaling_of(const Scene& scene, const Weights& weights) {
  if (scene.options.loudness == Loudness::free) return torch::zeros_like(scene.unit);
  const auto filters = scene.unit.size(0);
  auto sums = torch::zeros({2, filters}, torch::kFloat64);  // along the maps, and of their squares
  const auto along = [&] { return sums.data_ptr<double>(); };
  add_up(scene.squares, {}, along() + filters);
  if (weights.dense.defined()) add_up(dots_of(scene.values, weights.dense), {}, along());
  sums = scene.ranks.sum(sums);
  if (!weights.dense.defined()) {  // these are of all images already
    add_up(weights.constant, scene.masses, along());
    add_up(weights.pull, scene.own_fits, along());
  }
  const auto scaling = torch::empty_like(scene.unit);
  by_type(scaling, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t f = 0; f < filters; ++f)
      scaling.data_ptr<T>()[f] = static_cast<T>(along()[f] / std::max(along()[filters + f], kTiny));
  });
  return scaling;
}

struct Raise {
  Tensor gradient;  // [images, filter]
  double loss = 0.0;
};

Raise vote_of(const Scene& scene, int64_t categories) {
  Raise raise{torch::empty_like(scene.tops)};
  by_type(scene.values, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> losses(static_cast<std::size_t>(scene.images()));
    tensors::in_parallel(scene.images(), kImagesPerThread, [&](int64_t begin, int64_t end) {
      kernels::layer_kernels<T>().vote(
          scene.batch(), {begin, end}, scene.labels.data_ptr<int64_t>(),
          scene.layer.filter_category.data_ptr<int64_t>(), categories, data<T>(scene.tops),
          static_cast<T>(scene.layer.loudness), scene.options.vote,
          raise.gradient.template data_ptr<T>(), losses.data());
    });
    for (const double loss : losses) raise.loss += loss;
  });
  return raise;
}

// The strongest cell before the ReLU: beyond it a silent map shows none.
Tensor strongest_cells(const Push& push, const Looks& looks) {
  if (push.before_relu.empty()) return looks.strongest;
  const auto silent = (looks.tops <= 0).flatten().nonzero().squeeze(1);
  if (silent.numel() == 0) return looks.strongest;
  const auto before = torch::cat(push.before_relu, 1).detach().flatten(2).flatten(0, 1);
  auto cells = looks.strongest.flatten().clone();
  cells.index_copy_(0, silent, before.index_select(0, silent).argmax(1));
  return cells.view_as(looks.strongest);
}

// What a unit makes of dLoss_f/dx of each filter.
Tensor weight_of(const Memory& memory, const Tensor& scale, StrengthUnit unit) {
  switch (unit) {
    case StrengthUnit::filter_share:
    case StrengthUnit::layer_share:
      return scale.square();
    case StrengthUnit::peak:
      return memory.mean_peak_all();
    case StrengthUnit::absolute:
      break;
  }
  return torch::ones_like(scale);
}

Scene scene_of(const Push& push,
               const Looks& looks,
               const Masked& masked,
               const Memory& memory,
               const PartOptions& options,
               const tensors::Ranks& ranks) {
  const auto layer = memory.state();
  const auto of_all = [&](const Tensor& own) {
    return ranks.rows_of_all(own, push.labels.size(0)).contiguous();
  };
  return {push.maps.detach().contiguous(),
          looks.squares,
          masked.foreign_fits,
          push.labels.contiguous(),
          of_all(looks.peaks),
          of_all(looks.tops),
          of_all(looks.masses),
          of_all(masked.fits),
          memory.cones(),
          layer,
          options.exponent == Exponent::raw ? torch::ones_like(layer.scale) : layer.scale,
          weight_of(memory, layer.scale, options.strength_unit),
          temperature_of(options) * static_cast<double>(push.maps.size(2) * push.maps.size(3)),
          options,
          ranks};
}

// Whether lift_need leaves any.
bool any_needs_lift(const Memory::State& layer) {
  return by_type(layer.mean_peak, [&](auto zero) {
    const auto* peak = layer.mean_peak.data_ptr<decltype(zero)>();
    return std::any_of(peak, peak + layer.mean_peak.size(0),
                       [&](auto one) { return 2.0 * static_cast<double>(one) < layer.loudness; });
  });
}

void plan_the_push(Plan& plan,
                   const Push& push,
                   const Looks& looks,
                   Memory& memory,
                   const Scene& scene,
                   const Tensor& category_shares,
                   Diagnostics& diagnostics) {
  const auto& options = scene.options;
  const auto weights = weights_of(scene, memory, category_shares);
  if (weights.dense.defined()) {
    plan.push.dense = weights.dense;
  } else {
    plan.push.constant = scene.own_rows_of(weights.constant);
    plan.push.pull = scene.own_rows_of(weights.pull);
  }
  plan.push.scaling = scaling_of(scene, weights);
  plan.push.strongest = looks.strongest;
  const auto number = [&](double value) { return torch::full({}, value, memory.type()); };
  const double softening = options.guard == Guard::on ? scene.layer.softening : 1.0;
  plan.strength *= softening;
  plan.ratio = diagnostics.see_push(number(weights.effective_samples), number(softening));
  if (memory.categories() == 1 || (options.vote == 0.0 && options.keep_alive == 0.0)) return;
  plan.push.strongest = strongest_cells(push, looks);
  for (const auto& before : push.before_relu) plan.filters_before.push_back(before.size(1));
  if (options.vote > 0.0) {
    const auto raise = vote_of(scene, memory.categories());
    diagnostics.see_vote(number(raise.loss));
    plan.push.raise = scene.own_rows_of(raise.gradient);
  }
  if (options.keep_alive > 0.0 && any_needs_lift(scene.layer)) {  // the same on all ranks
    const auto need = lift_need(scene.layer.mean_peak, number(scene.layer.loudness));
    const auto positive =
        own_rows(scene.labels, scene.ranks).unsqueeze(1).eq(scene.layer.filter_category);
    plan.keep_alive = options.keep_alive;
    plan.need = need;
    plan.lifted = positive.logical_and(need > 0).to(scene.values.scalar_type());
  }
}

}  // namespace

Tensor mask_by_kernels(const Tensor& maps,
                       const Looks& looks,
                       const Masked& masked,
                       const Cones& cones,
                       double share) {
  auto plan = c10::make_intrusive<Plan>();
  plan->masked = masked.maps;
  plan->peaks = looks.peaks;
  plan->cones = cones;
  plan->share = share;
  return MaskFunction::apply(maps, plan, at::TensorList());
}

Tensor mask_and_push_by_kernels(const Push& push,
                                const Looks& looks,
                                const Masked& masked,
                                double share,
                                Memory& memory,
                                const PartOptions& options,
                                const Tensor& category_shares,
                                double strength,
                                const tensors::Ranks& ranks,
                                Diagnostics& diagnostics) {
  auto plan = c10::make_intrusive<Plan>();
  {
    const torch::NoGradGuard no_grad;
    const auto scene = scene_of(push, looks, masked, memory, options, ranks);
    plan->masked = masked.maps;
    plan->peaks = looks.peaks;
    plan->cones = scene.cones;
    plan->share = share;
    plan->learns = true;
    plan->unit = options.strength_unit;
    plan->strength = strength;
    plan->ranks = ranks;
    plan_the_push(*plan, push, looks, memory, scene, category_shares, diagnostics);
  }
  const auto before =
      plan->filters_before.empty() ? at::TensorList() : at::TensorList(push.before_relu);
  return MaskFunction::apply(push.maps, plan, before);
}

}  // namespace partwise::parts
