#include "partwise/measure.h"

#include "partwise/base/error.h"
#include "partwise/formats/safetensors.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/purity.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::measure {
namespace {

// A tensor as metrics see it: on the CPU, contiguous, of this type and these extents (-1: any).
Tensor plain(const Tensor& tensor,
             const char* name,
             at::ScalarType type,
             const std::vector<int64_t>& extents) {
  ensure(tensor.defined(), "{}: the tensor is undefined", name);
  bool fits = tensor.dim() == static_cast<int64_t>(extents.size());
  for (std::size_t i = 0; fits && i < extents.size(); ++i)
    fits = extents[i] < 0 || tensor.size(static_cast<int64_t>(i)) == extents[i];
  const bool right_kind =
      type == torch::kFloat32 ? tensor.is_floating_point() : tensor.scalar_type() == type;
  ensure(fits && right_kind, "{} is {} of shape {}; expected {} of shape {} (-1: any)", name,
         c10::toString(tensor.scalar_type()), c10::str(tensor.sizes()), c10::toString(type),
         c10::str(at::IntArrayRef(extents)));
  return tensor.detach().to(torch::kCPU, type).contiguous();
}

Tensor plain_maps(const Tensor& maps, const char* name = "maps") {
  auto result = plain(maps, name, torch::kFloat32, {-1, -1, -1, -1});
  ensure(result.size(2) == result.size(3) && result.numel() > 0,
         "{} is of shape {}; expected square maps, one at least", name, c10::str(result.sizes()));
  return result;
}

metrics::Maps view_of(const Tensor& maps) {
  return {{maps.data_ptr<float>(), static_cast<std::size_t>(maps.numel())},
          maps.size(0),
          maps.size(1),
          maps.size(2)};
}

std::vector<int64_t> numbers(const Tensor& tensor, const char* name, int64_t count) {
  const auto values = plain(tensor, name, torch::kInt64, {count});
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + count};
}

std::vector<int64_t> labels_of(const Tensor& labels, int64_t rows, int64_t categories) {
  auto values = numbers(labels, "labels", rows);
  for (const int64_t label : values)
    ensure(label >= -1 && label < categories, "labels: {} is outside -1 to {}", label,
           categories - 1);
  return values;
}

metrics::BootstrapOptions options_of(const Bootstrap& bootstrap) {
  metrics::BootstrapOptions options;
  options.resamples = bootstrap.resamples;
  options.seed = bootstrap.seed;
  validate(options);
  return options;
}

Finding finding_of(const metrics::Finding& found) {
  return {found.value, found.low, found.high, found.controls};
}

metrics::PixelSet pixels_of(const bool* shown, int64_t side) {
  metrics::PixelSet pixels(side);
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      if (shown[y * side + x]) pixels.insert(x, y);
    }
  }
  return pixels;
}

// Every category has all the parts; its rows show those of theirs that have pixels.
metrics::Truth truth_of(const Tensor& parts,
                        const std::vector<int64_t>& labels,
                        int64_t categories,
                        int64_t side) {
  metrics::Truth truth;
  truth.input_side = side;
  const int64_t count = parts.size(1);
  for (int64_t c = 0; c < categories; ++c) {
    metrics::CategoryTruth category;
    category.name = std::to_string(c);
    for (int64_t k = 0; k < count; ++k) category.parts.push_back(std::to_string(k));
    truth.categories.push_back(std::move(category));
  }
  const auto* shown = parts.data_ptr<bool>();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    metrics::RowTruth one;
    one.category = labels[row];
    for (int64_t k = 0; k < count && one.category >= 0; ++k)
      one.parts.push_back(
          pixels_of(shown + (static_cast<int64_t>(row) * count + k) * side * side, side));
    truth.rows.push_back(std::move(one));
  }
  return truth;
}

}  // namespace

Finding purity(const Tensor& maps, const Bootstrap& bootstrap) {
  const auto values = plain_maps(maps);
  return finding_of(metrics::purity(metrics::source_of(view_of(values)), options_of(bootstrap)));
}

Tensor filter_categories(const Tensor& maps, const Tensor& labels, int64_t categories) {
  const auto values = plain_maps(maps);
  ensure(categories > 0, "categories = {}; one at least", categories);
  const auto rows = labels_of(labels, values.size(0), categories);
  return torch::tensor(
      metrics::strongest_category(metrics::summarise(view_of(values), 0), rows, categories),
      torch::kInt64);
}

PartInterpretability part_interpretability(const Tensor& maps,
                                           const Grid& grid,
                                           const Tensor& parts,
                                           const Tensor& labels,
                                           const Tensor& filter_category,
                                           const Bootstrap& bootstrap) {
  const auto values = plain_maps(maps);
  const auto side = grid.input_side;
  ensure(side > 0 && grid.stride > 0.0, "grid: input_side = {}, stride = {}; both must be above 0",
         side, grid.stride);
  const auto shown = plain(parts, "parts", torch::kBool, {values.size(0), -1, side, side});
  const auto category = numbers(filter_category, "filter_category", values.size(1));
  const auto rows = numbers(labels, "labels", values.size(0));
  const auto most = std::max(*std::max_element(rows.begin(), rows.end()),
                             *std::max_element(category.begin(), category.end()));
  ensure(most >= 0, "labels: no row shows an object");
  for (const int64_t one : category) ensure(one >= 0, "filter_category: {} is no category", one);
  const auto truth = truth_of(shown, labels_of(labels, values.size(0), most + 1), most + 1, side);
  const auto found = metrics::part_interpretability(metrics::source_of(view_of(values)),
                                                    {grid.offset, grid.stride, side}, truth,
                                                    category, {}, options_of(bootstrap));
  std::vector<double> filters;
  std::vector<int64_t> best;
  for (const auto& filter : found.filters) {
    filters.push_back(filter.interpretability);
    best.push_back(filter.best_part);
  }
  return {finding_of(found.finding), torch::tensor(filters, torch::kFloat64),
          torch::tensor(best, torch::kInt64), found.empty_share};
}

void write_dump(const std::filesystem::path& path, const Dump& dump) {
  const auto maps = plain_maps(dump.maps);
  std::map<std::string, Tensor> tensors{{"maps", maps}};
  formats::NamedArrays file;
  tensors["annotation"] = plain(dump.annotation, "annotation", torch::kInt64, {maps.size(0)});
  if (dump.filter_category.defined())
    tensors["category"] =
        plain(dump.filter_category, "filter_category", torch::kInt64, {maps.size(1)});
  if (dump.masked.defined()) {
    const auto side = dump.masked_grid ? -1 : maps.size(2);
    tensors["masked"] = plain(plain_maps(dump.masked, "masked"), "masked", torch::kFloat32,
                              {maps.size(0), maps.size(1), side, side});
  }
  for (const auto& [name, tensor] : tensors) {
    const bool numbers = tensor.is_floating_point();
    ensure(!numbers || (tensor.isfinite() & tensor.ge(0)).all().item<bool>(),
           "{}: activations after ReLU are finite and not negative", name);
    file.arrays[name] = {numbers ? formats::Dtype::f32 : formats::Dtype::i64,
                         tensor.sizes().vec(),
                         {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()},
                         nullptr};
  }
  const auto say = [&](const char* key, const std::string& text) {
    if (!text.empty()) file.metadata[key] = text;
  };
  say("input_side", std::to_string(dump.grid.input_side));
  say("unit_offset", fmt::format("{}", dump.grid.offset));
  say("unit_stride", fmt::format("{}", dump.grid.stride));
  if (dump.masked_grid) {
    say("masked_unit_offset", fmt::format("{}", dump.masked_grid->offset));
    say("masked_unit_stride", fmt::format("{}", dump.masked_grid->stride));
  }
  say("layer", dump.layer);
  say("net", dump.net);
  say("split", dump.split);
  say("task", dump.task);
  formats::write_safetensors(path, file);
}

}  // namespace partwise::measure
