#include "partwise/interpretable.h"

#include "partwise/parts/fused_push.h"
#include "partwise/parts/gpu_layer.h"
#include "partwise/parts/mask.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"

namespace partwise {

struct InterpretableImpl::Inside {
  parts::Memory memory;
  parts::Diagnostics diagnostics;
  Tensor shares_on_gpu;         // [category], or undefined
  bool by_gpu_kernels = false;  // the last training pass
};

InterpretableImpl::InterpretableImpl(int64_t filters,
                                     int64_t side,
                                     int64_t categories,
                                     const parts::PartOptions& options)
    : filters_(filters),
      side_(side),
      categories_(categories),
      options_(options),
      ranks_(std::make_shared<tensors::Ranks>()) {
  ensure(filters > 0 && side > 0 && categories > 0,
         "Interpretable: {} filters, side {}, {} categories; each must be 1 or more", filters, side,
         categories);
  validate(options);
  InterpretableImpl::reset();
}

void InterpretableImpl::reset() {
  const c10::InferenceMode off(false);  // made there, buffers could never learn
  inside_ =
      std::make_shared<Inside>(Inside{{filters_, side_, categories_, options_}, {}, {}, false});
  for (const auto& [name, tensor] : inside_->memory.tensors()) register_buffer(name, tensor);
}

void InterpretableImpl::check_maps(const Tensor& maps) const {
  ensure(maps.dim() == 4 && maps.size(1) == filters_ && maps.size(2) == side_ &&
             maps.size(3) == side_ && maps.is_floating_point(),
         "Interpretable: maps are {} of shape {}; expected numbers of shape [batch, {}, {}, {}]",
         c10::toString(maps.scalar_type()), c10::str(maps.sizes()), filters_, side_, side_);
}

Tensor InterpretableImpl::forward(const Tensor& maps,
                                  const Tensor& labels,
                                  const std::vector<Tensor>& before_relu) {
  if (!is_training()) return mask(maps);
  ensure(labels.defined(), "Interpretable: training needs labels; eval() does not");
  if (labels.numel() > 0 && labels.scalar_type() == torch::kInt64) {
    const auto least = labels.min().item<int64_t>();
    const auto most = labels.max().item<int64_t>();
    ensure(least >= -1 && most < categories_,
           "Interpretable: a label is {}; valid: 0 to {}, and -1 for an image of no category",
           least < -1 ? least : most, categories_ - 1);
  }
  return mask_and_learn(maps, labels, before_relu);
}

void InterpretableImpl::set_category_shares(const std::vector<double>& shares) {
  ensure(std::ssize(shares) == categories_, "Interpretable: {} shares for {} categories",
         shares.size(), categories_);
  category_shares_ = shares;
  inside_->shares_on_gpu.reset();
}

namespace {

// Above ten the release takes all categories to be equally frequent; a binary task has no factor.
constexpr int64_t kManyCategories = 10;

// [category] float64, or undefined
Tensor shares_of_categories(int64_t categories, const std::vector<double>& shares) {
  if (categories == 1) return {};
  const auto equal = 1.0 / static_cast<double>(categories);
  if (shares.empty() || categories > kManyCategories)
    return torch::full({categories}, equal, torch::kFloat64);
  return torch::tensor(shares, torch::kFloat64).clamp(1e-6, 1.0 - 1e-6);
}

Tensor shares_of_filters(const Tensor& filter_category,
                         int64_t categories,
                         const std::vector<double>& shares) {
  const auto known = shares_of_categories(categories, shares);
  return known.defined() ? known.to(filter_category.device()).index_select(0, filter_category)
                         : known;
}

}  // namespace

Tensor InterpretableImpl::mask(const Tensor& maps) const {
  check_maps(maps);
  const auto& memory = inside_->memory;
  const bool differentiable = torch::GradMode::is_enabled() && maps.requires_grad();
  if (!differentiable && parts::can_fuse_on_gpu({maps}, memory))
    return parts::mask_on_gpu(maps, memory, options_);
  if (parts::can_fuse(maps)) {
    const auto cones = memory.cones();
    const auto [looks, masked] = parts::look_and_mask(maps, cones, 1.0, options_);
    return differentiable ? parts::mask_by_kernels(maps, looks, masked, cones, 1.0) : masked.maps;
  }
  const auto shapes = memory.templates();
  return maps * parts::masks_at(parts::peak_cells(maps, options_), shapes).to(maps.scalar_type());
}

Tensor InterpretableImpl::learn_on_gpu(const std::vector<Tensor>& pieces,
                                       const std::vector<Tensor>& biases,
                                       bool through_relu,
                                       const Tensor& labels) {
  auto& [memory, diagnostics, shares, by_gpu_kernels] = *inside_;
  by_gpu_kernels = true;
  if (options_.balance == parts::Balance::dataset && !shares.defined() && categories_ > 1) {
    shares = shares_of_categories(categories_, category_shares_)
                 .to(memory.type().device(), torch::kFloat32);
  }
  bool learns = false;
  for (const auto& piece : pieces) learns = learns || piece.requires_grad();
  const double strength = learns ? options_.strength * strength_factor_ : 0.0;
  const tensors::FullPrecision full;
  const auto there = labels.to(pieces.front().device());  // kernels cannot read from elsewhere
  return parts::mask_and_learn_on_gpu(
      {pieces, biases, through_relu, there, mask_share_, strength, shares}, memory, options_,
      *ranks_, diagnostics);
}

Tensor InterpretableImpl::open_and_learn(const std::vector<Tensor>& before_relu,
                                         const Tensor& labels,
                                         const std::vector<Tensor>& biases) {
  ensure(!before_relu.empty(), "Interpretable: nothing was given to the ReLU");
  int64_t filters = 0;
  const auto& first = before_relu.front();
  for (const auto& piece : before_relu) {
    const bool fits = piece.dim() == 4 && piece.size(0) == first.size(0) &&
                      piece.size(2) == side_ && piece.size(3) == side_ &&
                      piece.device() == first.device();
    if (!fits) {
      throw Error(fmt::format(
          "Interpretable: a piece of shape {} on {} beside one of {} on {}; the layer has maps of "
          "{} x {}",
          c10::str(piece.sizes()), piece.device().str(), c10::str(first.sizes()),
          first.device().str(), side_, side_));
    }
    filters += piece.size(1);
  }
  ensure(filters == filters_, "Interpretable: before_relu has {} filters, the layer {}", filters,
         filters_);
  ensure(biases.empty() || biases.size() == before_relu.size(),
         "Interpretable: {} biases for {} tensors; expected one for each, or none", biases.size(),
         before_relu.size());
  bool plain = true;  // biases as the kernels read them
  for (std::size_t i = 0; i < biases.size(); ++i) {
    ensure(biases[i].dim() == 1 && biases[i].size(0) == before_relu[i].size(1),
           "Interpretable: a bias of shape {} for {} filters", c10::str(biases[i].sizes()),
           before_relu[i].size(1));
    plain =
        plain && biases[i].scalar_type() == torch::kFloat32 && biases[i].device() == first.device();
  }
  if (plain && parts::can_fuse_on_gpu(before_relu, inside_->memory)) {
    check_labels(labels, before_relu.front().size(0));
    return learn_on_gpu(before_relu, biases, true, labels);
  }
  auto before = before_relu;
  for (std::size_t i = 0; i < biases.size(); ++i)
    before[i] = before[i] + biases[i].view({1, -1, 1, 1}).to(first.options());
  return mask_and_learn(torch::relu(before.size() == 1 ? before.front() : torch::cat(before, 1)),
                        labels, before);
}

void InterpretableImpl::check_labels(const Tensor& labels, int64_t images) const {
  ensure(labels.scalar_type() == torch::kInt64 && labels.dim() == 1,
         "Interpretable: labels are {} of shape {}; expected int64 of shape [batch]",
         c10::toString(labels.scalar_type()), c10::str(labels.sizes()));
  ensure(ranks_->share(labels.size(0)).rows() == images, "Interpretable: {} labels for {} maps{}",
         labels.size(0), images,
         ranks_->alone() ? "" : ", this rank's; labels must be the whole batch's");
}

Tensor InterpretableImpl::mask_and_learn(const Tensor& maps,
                                         const Tensor& labels,
                                         const std::vector<Tensor>& before_relu) {
  check_maps(maps);
  check_labels(labels, maps.size(0));
  if (labels.size(0) == 0) return mask(maps);  // nothing to learn
  int64_t opened = 0;
  for (const auto& before : before_relu) opened += before.size(1);
  ensure(before_relu.empty() || opened == filters_,
         "Interpretable: before_relu has {} filters, the layer {}", opened, filters_);
  const double strength = options_.strength * strength_factor_;
  if (before_relu.empty() && parts::can_fuse_on_gpu({maps}, inside_->memory))
    return learn_on_gpu({maps}, {}, false, labels);
  const tensors::FullPrecision full;
  auto& memory = inside_->memory;
  auto& diagnostics = inside_->diagnostics;
  inside_->by_gpu_kernels = false;
  const auto values = maps.detach().to(memory.type().dtype());
  const bool fused = parts::can_fuse(maps) && maps.scalar_type() == values.scalar_type();
  const bool at_once = fused && options_.beta_rule == parts::BetaRule::fixed;
  auto [looks, masked] = at_once
                             ? parts::look_and_mask(values, memory.cones(), mask_share_, options_)
                             : parts::Seen{parts::look_at(maps, values, options_), {}};
  memory.see(values, looks, labels, *ranks_);
  if (fused && !at_once)
    masked = parts::mask_and_fit(values, looks.peaks, memory.cones(), mask_share_);
  diagnostics.see(values.flatten(2), memory, options_, *ranks_);
  const bool learns = strength > 0.0 && maps.requires_grad();
  const auto shares =
      options_.balance == parts::Balance::dataset
          ? shares_of_filters(memory.filter_category(), categories_, category_shares_)
          : Tensor();
  if (fused && learns) {
    return parts::mask_and_push_by_kernels({maps, before_relu, labels}, looks, masked, mask_share_,
                                           memory, options_, shares, strength, *ranks_,
                                           diagnostics);
  }
  if (learns) {
    parts::FilterBatch batch{values.flatten(2),
                             looks.peaks,
                             memory.positives(parts::own_rows(labels, *ranks_)),
                             memory.templates(),
                             memory.scale(),
                             {},
                             shares,
                             *ranks_,
                             labels.size(0)};
    if (options_.rule == parts::Rule::paper || options_.rule == parts::Rule::paper_all) {
      memory.see_fits(parts::log_mean_fits(batch, options_));
      batch.log_partition = memory.log_mean_fits();
    }
    const parts::Push push{maps, before_relu, parts::own_rows(labels, *ranks_)};
    parts::push_filters(push, values, batch, memory, options_, strength, diagnostics);
  }
  if (fused) return parts::mask_by_kernels(maps, looks, masked, memory.cones(), mask_share_);
  auto mask = parts::masks_at(looks.peaks, memory.templates());
  if (mask_share_ < 1.0) mask = 1.0 - mask_share_ * (1.0 - mask);
  return maps * mask.to(maps.scalar_type());
}

Tensor InterpretableImpl::filter_category() const {
  return inside_->memory.filter_category();
}

Tensor InterpretableImpl::filter_beta() const {
  return inside_->memory.filter_beta();
}

parts::LayerDiagnostics InterpretableImpl::take_diagnostics() {
  return inside_->diagnostics.take(inside_->memory);
}

Tensor InterpretableImpl::diagnostic_sums() const {
  return inside_->diagnostics.sums();
}

void InterpretableImpl::load_diagnostic_sums(const Tensor& sums) {
  inside_->diagnostics.load(sums);
}

bool InterpretableImpl::repeats() const {
  return inside_->by_gpu_kernels && inside_->memory.is_assigned();
}

std::string InterpretableImpl::pass_key() const {
  return fmt::format("{} {}", strength_factor_, mask_share_);
}

void InterpretableImpl::count_again() {
  inside_->diagnostics.repeat();
}

void InterpretableImpl::set_ranks(const tensors::Ranks& ranks) {
  ranks_ = std::make_shared<tensors::Ranks>(ranks);
}

void InterpretableImpl::pretty_print(std::ostream& stream) const {
  stream << fmt::format(
      "partwise::Interpretable(filters={}, side={}, categories={}, rule={}, strength={:g} {}, "
      "beta={})",
      filters_, side_, categories_, word_of(options_.rule), options_.strength,
      word_of(options_.strength_unit),
      options_.beta_rule == parts::BetaRule::fixed ? fmt::format("{:g}", options_.beta)
                                                   : word_of(options_.beta_rule));
}

void InterpretableImpl::save(torch::serialize::OutputArchive& archive) const {
  Cloneable::save(archive);
}

void InterpretableImpl::load(torch::serialize::InputArchive& archive) {
  Cloneable::load(archive);
  auto own = named_buffers(/*recurse=*/false);
  const parts::Memory expected(filters_, side_, categories_, options_);
  for (const auto& [name, tensor] : expected.tensors()) {
    ensure(own[name].sizes() == tensor.sizes(),
           "Interpretable: the file has '{}' of shape {}, this layer {}: it was saved with other "
           "filters, side or categories",
           name, c10::str(own[name].sizes()), c10::str(tensor.sizes()));
  }
}

void InterpretableImpl::to(torch::Device device, torch::Dtype type, bool non_blocking) {
  Cloneable::to(device, non_blocking);
  to(type, non_blocking);
}

void InterpretableImpl::to(torch::Device device, bool non_blocking) {
  Cloneable::to(device, non_blocking);
}

void InterpretableImpl::to(torch::Dtype type, bool non_blocking) {
  if (type == torch::kFloat32 || type == torch::kFloat64) Cloneable::to(type, non_blocking);
}

}  // namespace partwise
