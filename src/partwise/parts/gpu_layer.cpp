#include "partwise/parts/gpu_layer.h"

#include "partwise/kernels/gpu_kernels.h"
#include "partwise/parts/gpu_rules.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/innermost.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>

namespace partwise::parts {
namespace {

using tensors::kInnermost;

int whole(int64_t number) {
  return static_cast<int>(number);
}

const kernels::GpuKernels* kernels_for(const Tensor& tensor) {
  return kernels::gpu_kernels(tensors::gpu_of(tensor));
}

template <class T>
T* at(const Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.data_ptr()) : nullptr;
}

kernels::GpuMaps maps_of(const std::vector<Tensor>& pieces, const std::vector<Tensor>& biases) {
  kernels::GpuMaps maps;
  for (const auto& piece : pieces) {
    maps.values[maps.pieces] = piece.data_ptr();
    if (!biases.empty())
      maps.biases[maps.pieces] = at<float>(biases[static_cast<std::size_t>(maps.pieces)]);
    maps.filters_of[maps.pieces++] = whole(piece.size(1));
    maps.filters += whole(piece.size(1));
  }
  maps.narrow = pieces.front().scalar_type() == torch::kBFloat16;
  maps.images = whole(pieces.front().size(0));
  maps.side = whole(pieces.front().size(2));
  return maps;
}

Tensor empty_maps(const kernels::GpuMaps& maps, const Tensor& like) {
  return torch::empty({maps.images, maps.filters, maps.side, maps.side},
                      like.options().requires_grad(false).memory_format(kInnermost));
}

// Numbers of every map of the whole batch, [number, batch, filter].
enum MapNumber {
  kTops,  // these five are seen by each rank for its own images
  kMasses,
  kSquares,
  kFits,
  kSpreads,
  kForeign,
  kConstant,
  kPull,
  kRaise,
  kTaskSquares,
  kPushSquares,
  kLiftSquares,
  kBiasSums,
  kMapNumbers
};

// Numbers of every filter, [number, filter].
enum FilterNumber {
  kMeanPeak,
  kMeanAll,
  kScale,
  kInverse,
  kNeed,
  kSlopes,
  kScaling,
  kAllSums,
  kFactor,
  kLift,
  kEffectiveShares,               // two
  kNorms = kEffectiveShares + 2,  // three
  kFilterNumbers = kNorms + 3
};

// What one pass keeps on the GPU until its backward pass is done.
struct GpuPlan : torch::CustomClassHolder {
  std::vector<Tensor> pieces;
  std::vector<int64_t> versions;  // of the pieces
  std::vector<Tensor> biases;
  Tensor labels;
  Tensor map_numbers;
  Tensor cells;  // int32 [2, batch, filter]: peaks, strongest; of the whole batch, too
  Tensor filter_numbers;
  Tensor category;       // int32 [filter]
  Tensor category_sums;  // [3, category, filter]
  Tensor few;            // counts and votes of the categories, loudness, softening, vote losses
  Tensor shares;
  Tensor slopes;  // of this pass's templates
  Tensor arrived;
  Tensor sums;  // Diagnostics' own
  Tensor seed;
  Tensor masked;
  GpuRuleNumbers rule;
  kernels::GpuPush push;
  kernels::GpuBalance balance;
  bool learns = false;
  tensors::Ranks ranks;
  int64_t begin = 0;  // of this rank's images among the batch's
  int64_t end = 0;

  int images() const { return whole(map_numbers.size(1)); }  // the batch's

  float* of_maps(MapNumber which) const {
    return at<float>(map_numbers) + which * map_numbers.stride(0);
  }
  // The same from this rank's first image on.
  float* of_own_maps(MapNumber which) const {
    return of_maps(which) + begin * map_numbers.stride(1);
  }
  int* own_peaks() const { return at<int>(cells) + begin * cells.stride(1); }
  int* own_strongest() const { return own_peaks() + cells.stride(0); }
  float* of_filters(int which) const {
    return at<float>(filter_numbers) + which * filter_numbers.stride(0);
  }
};

// Every rank gets to know what the others saw in their images.
void exchange(GpuPlan& plan, MapNumber first, MapNumber behind) {
  if (plan.ranks.alone()) return;
  auto numbers = plan.map_numbers.slice(0, first, behind);
  const auto own = numbers.slice(1, plan.begin, plan.end).transpose(0, 1).contiguous();
  numbers.copy_(plan.ranks.rows_of_all(own, plan.images()).transpose(0, 1));
}

void exchange_peaks(GpuPlan& plan) {
  if (plan.ranks.alone()) return;
  auto peaks = plan.cells[0];
  const auto own = peaks.slice(0, plan.begin, plan.end).to(torch::kFloat32);
  peaks.copy_(plan.ranks.rows_of_all(own, plan.images()));
}

// The norms' squares, summed up over the images of all ranks, as those of one image.
kernels::GpuBalance balance_of_all(const GpuPlan& plan, Tensor& sums) {
  auto balance = plan.balance;
  if (plan.ranks.alone()) return balance;
  const int behind = balance.lift_squares == nullptr ? kLiftSquares : kLiftSquares + 1;
  const auto own = plan.map_numbers.slice(0, kTaskSquares, behind).slice(1, plan.begin, plan.end);
  sums = plan.ranks.sum(own.sum(1)).contiguous();
  balance.images = 1;
  balance.task_squares = at<float>(sums);
  balance.push_squares = balance.task_squares + sums.stride(0);
  if (balance.lift_squares != nullptr) balance.lift_squares = balance.push_squares + sums.stride(0);
  return balance;
}

struct GpuFunction : torch::autograd::Function<GpuFunction> {
  static Tensor forward(torch::autograd::AutogradContext* context,
                        const c10::intrusive_ptr<GpuPlan>& plan,
                        at::TensorList /*pieces and biases*/) {
    context->saved_data["plan"] = c10::IValue::make_capsule(plan);
    return std::move(plan->masked);  // kept, it would keep itself
  }

  static std::vector<Tensor> backward(torch::autograd::AutogradContext* context,
                                      std::vector<Tensor> gradients) {
    const auto holder = context->saved_data["plan"].toCapsule();
    auto& plan = static_cast<GpuPlan&>(*holder);
    std::vector<Tensor> result(1 + plan.pieces.size() + plan.biases.size());
    if (!gradients[0].defined()) return result;
    for (std::size_t i = 0; i < plan.pieces.size(); ++i) {
      TORCH_CHECK(plan.pieces[i]._version() == plan.versions[i],
                  "maps were changed in place behind an interpretable layer");
    }
    TORCH_CHECK(!torch::GradMode::is_enabled(),
                "an interpretable layer in training can be differentiated once only on a GPU");
    const torch::NoGradGuard no_grad;
    const auto task = tensors::innermost(gradients[0].to(plan.pieces.front().scalar_type()));
    auto push = plan.push;
    push.gradient = task.data_ptr();
    for (std::size_t i = 0; i < plan.pieces.size(); ++i) {
      result[i + 1] = torch::empty_like(plan.pieces[i], {}, kInnermost);
      push.gradients[i] = result[i + 1].data_ptr();
    }
    const auto& table = *kernels_for(task);
    auto* stream = tensors::stream_of(task);
    if (plan.learns) {
      table.norms(push, stream);
      Tensor sums;
      table.balance(balance_of_all(plan, sums), stream);
    }
    if (plan.biases.empty()) {
      table.push(push, stream);
      return result;
    }
    push.bias_sums = plan.of_own_maps(kBiasSums);
    table.push(push, stream);
    const auto for_biases = torch::empty({push.maps.filters}, plan.filter_numbers.options());
    table.column_sums({push.bias_sums, at<float>(for_biases), push.maps.images, push.maps.filters},
                      stream);
    std::vector<int64_t> filters;
    for (const auto& bias : plan.biases) filters.push_back(bias.size(0));
    const auto pieces = for_biases.split_with_sizes(filters);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      result[1 + plan.pieces.size() + i] = pieces.size() == 1 ? for_biases : pieces[i];
    return result;
  }
};

void lay_out(GpuPlan& plan,
             const GpuPass& pass,
             const Memory& memory,
             const tensors::Ranks& ranks) {
  for (const auto& piece : pass.pieces) {
    plan.pieces.push_back(tensors::innermost(piece.detach()));
    // Inference tensors have none, and no way back that would ask for it.
    plan.versions.push_back(piece.is_inference() ? 0 : plan.pieces.back()._version());
  }
  for (const auto& bias : pass.biases) plan.biases.push_back(bias.detach().contiguous());
  const auto maps = maps_of(plan.pieces, plan.biases);
  const auto type = memory.type();
  const auto categories = memory.categories();
  plan.labels = pass.labels.contiguous();
  const auto images = ranks.alone() ? int64_t{maps.images} : plan.labels.size(0);
  plan.ranks = ranks;
  const auto own = ranks.share(images);
  plan.begin = own.begin;
  plan.end = own.end;
  plan.map_numbers = torch::empty({kMapNumbers, images, maps.filters}, type);
  plan.cells = torch::empty({2, images, maps.filters}, type.dtype(torch::kInt32));
  plan.filter_numbers = torch::empty({kFilterNumbers, maps.filters}, type);
  plan.category = torch::empty({maps.filters}, type.dtype(torch::kInt32));
  plan.category_sums = torch::empty({3, categories, maps.filters}, type);
  plan.few = torch::empty({2 * categories + 2 + images}, type);
  plan.masked = empty_maps(maps, plan.pieces.front());
}

kernels::GpuLook look_of(const GpuPlan& plan, const PartOptions& options) {
  kernels::GpuLook look;
  look.maps = maps_of(plan.pieces, plan.biases);
  look.templates = {at<float>(plan.slopes), options.template_shape == TemplateShape::l2};
  look.centroid = options.peak == Peak::centroid;
  look.peaks = plan.own_peaks();
  look.strongest = plan.own_strongest();
  look.tops = plan.of_own_maps(kTops);
  look.masses = plan.of_own_maps(kMasses);
  look.squares = plan.of_own_maps(kSquares);
  look.fits = plan.of_own_maps(kFits);
  return look;
}

kernels::GpuGather gather_of(const GpuPlan& plan, Memory& memory, const PartOptions& options) {
  const auto maps = maps_of(plan.pieces, plan.biases);
  kernels::GpuGather gather;
  gather.images = plan.images();
  gather.filters = maps.filters;
  gather.cells = maps.side * maps.side;
  gather.labels = at<int64_t>(plan.labels);
  gather.tops = plan.of_maps(kTops);
  gather.masses = plan.of_maps(kMasses);
  gather.fits = plan.of_maps(kFits);
  gather.response = options.assignment == Assignment::peak ? gather.tops : gather.masses;
  gather.memory = memory.on_gpu();
  if (options.beta_rule == BetaRule::learned) gather.spreads = plan.of_maps(kSpreads);
  gather.counts = at<float>(plan.few);
  gather.top_sums = at<float>(plan.category_sums);
  gather.fit_sums = gather.top_sums + plan.category_sums.stride(0);
  gather.spread_sums = gather.fit_sums + plan.category_sums.stride(0);
  gather.all_sums = plan.of_filters(kAllSums);
  return gather;
}

kernels::GpuState state_of(const GpuPlan& plan, const Memory& memory, const PartOptions& options) {
  kernels::GpuState state;
  state.category = at<int>(plan.category);
  state.mean_peak = plan.of_filters(kMeanPeak);
  state.mean_all = plan.of_filters(kMeanAll);
  state.scale = plan.of_filters(kScale);
  state.inverse = plan.of_filters(kInverse);
  state.need = plan.of_filters(kNeed);
  if (options.beta_rule == BetaRule::learned) state.slopes = plan.of_filters(kSlopes);
  state.per_vote = at<float>(plan.few) + memory.categories();
  state.numbers = state.per_vote + memory.categories();
  return state;
}

float tau_of(const PartOptions& options, const kernels::GpuGather& gather) {
  return static_cast<float>(1.0 / (temperature_of(options) * gather.cells));
}

int power_of(StrengthUnit unit) {
  switch (unit) {
    case StrengthUnit::filter_share:
    case StrengthUnit::layer_share:
      return 2;
    case StrengthUnit::peak:
      return 1;
    case StrengthUnit::absolute:
      return 0;
  }
  return 0;
}

kernels::GpuUnit gpu_unit(StrengthUnit unit) {
  switch (unit) {
    case StrengthUnit::filter_share:
      return kernels::GpuUnit::filter_share;
    case StrengthUnit::layer_share:
      return kernels::GpuUnit::layer_share;
    default:
      return kernels::GpuUnit::plain;
  }
}

// The mask and its gradient.
kernels::GpuPush mask_of(const GpuPlan& plan, const GpuPass& pass, const kernels::GpuLook& look) {
  kernels::GpuPush push;
  push.centroid = look.centroid;
  push.maps = look.maps;
  push.templates = look.templates;
  push.share = static_cast<float>(pass.mask_share);
  push.through_relu = pass.through_relu;
  push.peaks = look.peaks;
  push.strongest = look.strongest;
  push.labels = at<int64_t>(plan.labels) + plan.begin;
  push.category = at<int>(plan.category);
  return push;
}

void plan_gpu_push(GpuPlan& plan,
                   const GpuPass& pass,
                   const kernels::GpuLook& look,
                   const kernels::GpuGather& gather,
                   const kernels::GpuState& state,
                   const GpuAllFits& all,  // of rules but `release`
                   Memory& memory,
                   const PartOptions& options,
                   Diagnostics& diagnostics) {
  const auto& table = *kernels_for(plan.map_numbers);
  auto* stream = tensors::stream_of(plan.map_numbers);
  const bool peaks_too = memory.categories() > 1;
  const float* softening = options.guard == Guard::on ? state.numbers + 1 : nullptr;
  plan.sums = diagnostics.count_push();
  plan.arrived = memory.arrived_on_gpu();

  kernels::GpuWeigh weigh;
  weigh.batch = gather;
  weigh.state = state;
  exchange_peaks(plan);
  if (options.rule == Rule::release) {
    kernels::GpuForeign foreign;
    foreign.maps = look.maps;
    foreign.templates = look.templates;
    foreign.peaks = at<int>(plan.cells);
    foreign.foreign = plan.of_own_maps(kForeign);
    foreign.images = plan.images();
    foreign.first = whole(plan.begin);
    table.foreign(foreign, stream);
    exchange(plan, kForeign, kConstant);
    weigh.foreign = plan.of_maps(kForeign);
  } else {
    plan.rule = apply_rule_on_gpu(all, plan.filter_numbers[kMeanAll], memory, options, weigh);
  }
  weigh.peaks = at<int>(plan.cells);
  weigh.squares = plan.of_maps(kSquares);
  weigh.balance_batch = options.balance == Balance::category;
  plan.shares = pass.category_shares;
  weigh.shares = at<float>(plan.shares);
  weigh.ignore_misfits = options.misfits == Misfits::ignored;
  weigh.raw = options.exponent == Exponent::raw;
  weigh.kept = options.loudness == Loudness::kept;
  weigh.power = power_of(options.strength_unit);
  weigh.tau = tau_of(options, gather);
  weigh.weight_limit = static_cast<float>(options.weight_limit);
  weigh.vote = static_cast<float>(options.vote);
  weigh.softening = softening;
  const bool dense = plan.rule.dense.defined();
  if (!dense) {
    weigh.constant = plan.of_maps(kConstant);
    weigh.pull = plan.of_maps(kPull);
  }
  weigh.scaling = plan.of_filters(kScaling);
  if (peaks_too && options.vote > 0.0) weigh.raise = plan.of_maps(kRaise);
  weigh.effective = plan.of_filters(kEffectiveShares);
  weigh.losses = state.numbers + 2;
  weigh.arrived = at<unsigned>(plan.arrived);
  weigh.sums = at<float>(plan.sums);
  table.weigh(weigh, stream);

  auto& push = plan.push;
  if (dense) {
    push.dense = at<float>(plan.rule.dense);
  } else {
    push.constant = plan.of_own_maps(kConstant);
    push.pull = plan.of_own_maps(kPull);
  }
  push.scaling = weigh.scaling;
  if (weigh.raise != nullptr) push.raise = plan.of_own_maps(kRaise);
  push.task_squares = plan.of_own_maps(kTaskSquares);
  push.push_squares = plan.of_own_maps(kPushSquares);
  push.factor = plan.of_filters(kFactor);
  if (peaks_too && options.keep_alive > 0.0) {
    push.need = state.need;
    push.lift_squares = plan.of_own_maps(kLiftSquares);
    push.lift = plan.of_filters(kLift);
  }
  if (look.maps.narrow) {
    plan.seed = torch::empty({1}, plan.labels.options()).random_();
    push.seed = at<int64_t>(plan.seed);
  }
  auto& balance = plan.balance;
  balance.images = look.maps.images;
  balance.filters = gather.filters;
  balance.unit = gpu_unit(options.strength_unit);
  balance.strength = static_cast<float>(pass.strength);
  balance.keep_alive = static_cast<float>(options.keep_alive);
  balance.softening = softening;
  balance.need = push.need;
  balance.task_squares = push.task_squares;
  balance.push_squares = push.push_squares;
  balance.lift_squares = push.lift_squares;
  balance.norms = plan.of_filters(kNorms);
  balance.arrived = at<unsigned>(plan.arrived) + 1;
  balance.factor = push.factor;
  balance.lift = push.lift;
  balance.sums = at<float>(plan.sums);
}

}  // namespace

bool can_fuse_on_gpu(const std::vector<Tensor>& pieces, const Memory& memory) {
  if (composes_operators() || pieces.empty()) return false;
  const auto& first = pieces.front();
  const auto type = first.scalar_type();
  if (kernels_for(first) == nullptr) return false;
  if (type != torch::kBFloat16 && type != torch::kFloat32) return false;
  int64_t filters = 0;
  for (const auto& piece : pieces) {
    if (piece.scalar_type() != type || piece.size(1) % 2 != 0 || piece.numel() == 0) return false;
    filters += piece.size(1);
  }
  return first.size(0) <= kernels::kGpuMostImages && memory.type().dtype() == torch::kFloat32 &&
         memory.type().device() == first.device() && std::ssize(pieces) <= kernels::kGpuSources &&
         filters <= kernels::kGpuMostFilters && first.size(2) <= kernels::kGpuMostSide &&
         memory.categories() <= kernels::kGpuMostCategories;
}

Tensor mask_on_gpu(const Tensor& maps, const Memory& memory, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  GpuPlan plan;
  lay_out(plan, {{maps}, {}, false, maps.new_empty({0}, torch::kInt64), 1.0, 0.0, {}}, memory, {});
  plan.slopes = memory.slopes();
  auto look = look_of(plan, options);
  look.masked = plan.masked.data_ptr();
  kernels_for(maps)->look(look, tensors::stream_of(maps));
  return plan.masked;
}

Tensor mask_and_learn_on_gpu(const GpuPass& pass,
                             Memory& memory,
                             const PartOptions& options,
                             const tensors::Ranks& ranks,
                             Diagnostics& diagnostics) {
  auto plan = c10::make_intrusive<GpuPlan>();
  {
    const torch::NoGradGuard no_grad;
    const auto& table = *kernels_for(pass.pieces.front());
    const bool learned = options.beta_rule == BetaRule::learned;
    lay_out(*plan, pass, memory, ranks);
    auto* stream = tensors::stream_of(plan->map_numbers);
    plan->slopes = memory.slopes();
    auto look = look_of(*plan, options);
    look.share = static_cast<float>(pass.mask_share);
    if (learned) look.spreads = plan->of_own_maps(kSpreads);
    if (!learned) look.masked = plan->masked.data_ptr();
    table.look(look, stream);
    plan->push = mask_of(*plan, pass, look);
    plan->learns = pass.strength > 0.0;
    exchange(*plan, kTops, kForeign);
    const auto gather = gather_of(*plan, memory, options);
    table.gather(gather, stream);
    memory.assign_if_due();
    const auto state = state_of(*plan, memory, options);
    const auto unit = beta_from_slope(1.0, look.maps.side) / look.maps.side;
    table.settle({gather, state, static_cast<float>(unit), tau_of(options, gather),
                  options.exponent == Exponent::raw},
                 stream);
    if (learned) {  // the templates have moved
      look.seek = false;
      look.templates.slopes = plan->push.templates.slopes = state.slopes;
      look.spreads = nullptr;
      look.masked = plan->masked.data_ptr();
      table.look(look, stream);
      exchange(*plan, kFits, kSpreads);
    }
    const bool asks_all = plan->learns && options.rule != Rule::release;
    const auto fits = [&](const float* since) {
      return all_fits_on_gpu(look.maps, look.templates, ranks, plan->images(),
                             plan->filter_numbers[kScale], plan->filter_numbers[kInverse], since);
    };
    GpuAllFits all;
    if (ranks.alone()) {
      const auto watching = diagnostics.watch_on_gpu(memory);
      all = fits(asks_all ? nullptr : at<float>(watching.since));
      watch_on_gpu(all, watching);
    } else {
      const bool watched = diagnostics.watches_next();
      if (watched || asks_all) all = fits(nullptr);
      diagnostics.see_means(watched ? mean_loss_on_gpu(all) : Tensor(), memory);
    }
    if (plan->learns)
      plan_gpu_push(*plan, pass, look, gather, state, all, memory, options, diagnostics);
  }
  std::vector<Tensor> inputs = pass.pieces;
  inputs.insert(inputs.end(), pass.biases.begin(), pass.biases.end());
  return GpuFunction::apply(plan, at::TensorList(inputs));
}

}  // namespace partwise::parts
