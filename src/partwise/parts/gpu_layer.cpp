#include "partwise/parts/gpu_layer.h"

#include "partwise/kernels/gpu_kernels.h"
#include "partwise/parts/gpu_rules.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>

namespace partwise::parts {
namespace {

constexpr auto kChannelsLast = at::MemoryFormat::ChannelsLast;

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

std::vector<Tensor> channels_last(const std::vector<Tensor>& pieces) {
  std::vector<Tensor> laid;
  for (const auto& piece : pieces) laid.push_back(piece.detach().contiguous(kChannelsLast));
  return laid;
}

kernels::GpuMaps maps_of(const std::vector<Tensor>& pieces) {
  kernels::GpuMaps maps;
  for (const auto& piece : pieces) {
    maps.values[maps.pieces] = piece.data_ptr();
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
                      like.options().requires_grad(false).memory_format(kChannelsLast));
}

// Numbers of every map, [number, batch, filter].
enum MapNumber {
  kTops,
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
  kMapNumbers
};

// Numbers of every filter, [number, filter].
enum FilterNumber {
  kMeanPeak,
  kMeanAll,
  kScale,
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
  Tensor labels;
  Tensor map_numbers;
  Tensor cells;  // int32 [2, batch, filter]: peaks, strongest
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

  float* of_maps(MapNumber which) const {
    return at<float>(map_numbers) + which * map_numbers.stride(0);
  }
  float* of_filters(int which) const {
    return at<float>(filter_numbers) + which * filter_numbers.stride(0);
  }
};

struct GpuFunction : torch::autograd::Function<GpuFunction> {
  static Tensor forward(torch::autograd::AutogradContext* context,
                        const c10::intrusive_ptr<GpuPlan>& plan,
                        at::TensorList /*pieces*/) {
    context->saved_data["plan"] = c10::IValue::make_capsule(plan);
    return std::move(plan->masked);  // kept, it would keep itself
  }

  static std::vector<Tensor> backward(torch::autograd::AutogradContext* context,
                                      std::vector<Tensor> gradients) {
    const auto holder = context->saved_data["plan"].toCapsule();
    auto& plan = static_cast<GpuPlan&>(*holder);
    std::vector<Tensor> result(1 + plan.pieces.size());
    if (!gradients[0].defined()) return result;
    TORCH_CHECK(!torch::GradMode::is_enabled(),
                "an interpretable layer in training can be differentiated once only on a GPU");
    const torch::NoGradGuard no_grad;
    const auto task = gradients[0].to(plan.pieces.front().scalar_type()).contiguous(kChannelsLast);
    auto push = plan.push;
    push.gradient = task.data_ptr();
    for (std::size_t i = 0; i < plan.pieces.size(); ++i) {
      result[i + 1] = torch::empty_like(plan.pieces[i], {}, kChannelsLast);
      push.gradients[i] = result[i + 1].data_ptr();
    }
    const auto& table = *kernels_for(task);
    auto* stream = tensors::stream_of(task);
    if (plan.learns) {
      table.norms(push, stream);
      table.balance(plan.balance, stream);
    }
    table.push(push, stream);
    return result;
  }
};

void lay_out(GpuPlan& plan, const GpuPass& pass, const Memory& memory) {
  plan.pieces = channels_last(pass.pieces);
  const auto maps = maps_of(plan.pieces);
  const auto type = memory.type();
  const auto categories = memory.categories();
  plan.labels = pass.labels.contiguous();
  plan.map_numbers = torch::empty({kMapNumbers, maps.images, maps.filters}, type);
  plan.cells = torch::empty({2, maps.images, maps.filters}, type.dtype(torch::kInt32));
  plan.filter_numbers = torch::empty({kFilterNumbers, maps.filters}, type);
  plan.category = torch::empty({maps.filters}, type.dtype(torch::kInt32));
  plan.category_sums = torch::empty({3, categories, maps.filters}, type);
  plan.few = torch::empty({2 * categories + 2 + maps.images}, type);
  plan.masked = empty_maps(maps, plan.pieces.front());
}

kernels::GpuLook look_of(const GpuPlan& plan, const PartOptions& options) {
  kernels::GpuLook look;
  look.maps = maps_of(plan.pieces);
  look.templates = {at<float>(plan.slopes), options.template_shape == TemplateShape::l2};
  look.centroid = options.peak == Peak::centroid;
  look.peaks = at<int>(plan.cells);
  look.strongest = at<int>(plan.cells) + plan.cells.stride(0);
  look.tops = plan.of_maps(kTops);
  look.masses = plan.of_maps(kMasses);
  look.squares = plan.of_maps(kSquares);
  look.fits = plan.of_maps(kFits);
  return look;
}

kernels::GpuGather gather_of(const GpuPlan& plan, Memory& memory, const PartOptions& options) {
  const auto maps = maps_of(plan.pieces);
  kernels::GpuGather gather;
  gather.images = maps.images;
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
  state.need = plan.of_filters(kNeed);
  if (options.beta_rule == BetaRule::learned) state.slopes = plan.of_filters(kSlopes);
  state.per_vote = at<float>(plan.few) + memory.categories();
  state.numbers = state.per_vote + memory.categories();
  return state;
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
  push.maps = look.maps;
  push.templates = look.templates;
  push.share = static_cast<float>(pass.mask_share);
  push.through_relu = pass.through_relu;
  push.peaks = look.peaks;
  push.strongest = look.strongest;
  push.labels = at<int64_t>(plan.labels);
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
  if (options.rule == Rule::release) {
    table.foreign({look.maps, look.templates, look.peaks, plan.of_maps(kForeign)}, stream);
    weigh.foreign = plan.of_maps(kForeign);
  } else {
    plan.rule = apply_rule_on_gpu(all, plan.filter_numbers[kMeanAll], memory, options, weigh);
  }
  weigh.peaks = look.peaks;
  weigh.squares = plan.of_maps(kSquares);
  weigh.balance_batch = options.balance == Balance::category;
  plan.shares = pass.category_shares;
  weigh.shares = at<float>(plan.shares);
  weigh.ignore_misfits = options.misfits == Misfits::ignored;
  weigh.raw = options.exponent == Exponent::raw;
  weigh.kept = options.loudness == Loudness::kept;
  weigh.power = power_of(options.strength_unit);
  weigh.divisor = static_cast<float>(temperature_of(options) * gather.cells);
  weigh.weight_limit = static_cast<float>(options.weight_limit);
  weigh.vote = static_cast<float>(options.vote);
  weigh.softening = softening;
  if (!plan.rule.dense.defined()) {
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
  push.constant = weigh.constant;
  push.pull = weigh.pull;
  push.dense = at<float>(plan.rule.dense);
  push.scaling = weigh.scaling;
  push.raise = weigh.raise;
  push.task_squares = plan.of_maps(kTaskSquares);
  push.push_squares = plan.of_maps(kPushSquares);
  push.factor = plan.of_filters(kFactor);
  if (peaks_too && options.keep_alive > 0.0) {
    push.need = state.need;
    push.lift_squares = plan.of_maps(kLiftSquares);
    push.lift = plan.of_filters(kLift);
  }
  if (look.maps.narrow) {
    plan.seed = torch::empty({1}, plan.labels.options()).random_();
    push.seed = at<int64_t>(plan.seed);
  }
  auto& balance = plan.balance;
  balance.images = gather.images;
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

bool can_fuse_on_gpu(const std::vector<Tensor>& pieces,
                     const Memory& memory,
                     const tensors::Ranks& ranks) {
  if (composes_operators() || !ranks.alone() || pieces.empty()) return false;
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
         filters <= kernels::kGpuMostFilters &&
         first.size(2) * first.size(3) <= kernels::kGpuMostCells &&
         memory.categories() <= kernels::kGpuMostCategories;
}

Tensor mask_on_gpu(const Tensor& maps, const Memory& memory, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  GpuPlan plan;
  lay_out(plan, {{maps}, false, maps.new_empty({0}, torch::kInt64), 1.0, 0.0, {}}, memory);
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
    lay_out(*plan, pass, memory);
    auto* stream = tensors::stream_of(plan->map_numbers);
    plan->slopes = memory.slopes();
    auto look = look_of(*plan, options);
    look.share = static_cast<float>(pass.mask_share);
    if (learned) look.spreads = plan->of_maps(kSpreads);
    if (!learned) look.masked = plan->masked.data_ptr();
    table.look(look, stream);
    const auto gather = gather_of(*plan, memory, options);
    table.gather(gather, stream);
    memory.assign_if_due();
    const auto state = state_of(*plan, memory, options);
    const auto unit = beta_from_slope(1.0, look.maps.side) / look.maps.side;
    table.settle({gather, state, static_cast<float>(unit)}, stream);
    if (learned) {  // the templates have moved
      look.seek = false;
      look.templates.slopes = state.slopes;
      look.spreads = nullptr;
      look.masked = plan->masked.data_ptr();
      table.look(look, stream);
    }
    plan->learns = pass.strength > 0.0;
    const bool watched = diagnostics.watches_next();
    GpuAllFits all;
    if (watched || (plan->learns && options.rule != Rule::release))
      all = all_fits_on_gpu(look.maps, look.templates, ranks, look.maps.images,
                            plan->filter_numbers[kScale], options);
    diagnostics.see_means(watched ? mean_loss_on_gpu(all) : Tensor(), memory);
    plan->push = mask_of(*plan, pass, look);
    if (plan->learns)
      plan_gpu_push(*plan, pass, look, gather, state, all, memory, options, diagnostics);
  }
  return GpuFunction::apply(plan, at::TensorList(pass.pieces));
}

}  // namespace partwise::parts
