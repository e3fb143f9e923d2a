#include "partwise/networks/occlusion.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <limits>

namespace partwise::networks {
namespace {

using torch::indexing::None;
using torch::indexing::Slice;

constexpr int64_t kPatchesAtOnce = 64;

// A square window of a layer's cells per patch, all of one size.
struct Windows {
  Tensor x;  // [patches] int64: the first column; may lie outside the maps
  Tensor y;
  int64_t size = 0;
};

// A layer's output: of the uncovered image, and where the patches changed it.
struct Traces {
  Tensor clean;    // [1, channels, side, side]
  Tensor changed;  // [patches, channels, size, size]
  Windows windows;
};

Windows along(const Windows& windows,
              const std::function<Tensor(const Tensor&)>& move,
              int64_t size) {
  return {move(windows.x), move(windows.y), size};
}

// The cells behind a sliding window that see one of the changed ones, cut to the map.
Windows reached(
    const Windows& below, int64_t kernel, int64_t stride, int64_t padding, int64_t side) {
  const int64_t size = std::min(side, (below.size + kernel - 2) / stride + 1);
  return along(
      below,
      [&](const Tensor& first) {
        return torch::floor_divide(first + (padding - kernel + 1 + stride - 1), stride)
            .clamp(0, side - size);
      },
      size);
}

// The cells of these windows as the patches leave them: [patches, channels, size, size]; outside the
// maps `outside`.
Tensor cells_of(const Traces& traces, const Windows& wanted, double outside) {
  const auto options = wanted.x.options();
  const auto range = torch::arange(wanted.size, options);
  const auto columns = wanted.x.unsqueeze(1) + range;  // [patches, size]
  const auto rows = wanted.y.unsqueeze(1) + range;
  const int64_t side = traces.clean.size(2);
  const auto clean = traces.clean[0]
                         .index({Slice(), rows.clamp(0, side - 1).unsqueeze(2),
                                 columns.clamp(0, side - 1).unsqueeze(1)})
                         .permute({1, 0, 2, 3});
  const auto changed_rows = rows - traces.windows.y.unsqueeze(1);
  const auto changed_columns = columns - traces.windows.x.unsqueeze(1);
  const int64_t last = traces.windows.size - 1;
  const auto patch = torch::arange(wanted.x.size(0), options).view({-1, 1, 1});
  const auto changed = traces.changed.permute({0, 2, 3, 1})
                           .index({patch, changed_rows.clamp(0, last).unsqueeze(2),
                                   changed_columns.clamp(0, last).unsqueeze(1)})
                           .permute({0, 3, 1, 2});
  const auto within = [](const Tensor& at, int64_t count) { return at.ge(0) & at.lt(count); };
  const auto both = [](const Tensor& row, const Tensor& column) {
    return (row.unsqueeze(2) & column.unsqueeze(1)).unsqueeze(1);  // [patches, 1, size, size]
  };
  const auto is_changed =
      both(within(changed_rows, traces.windows.size), within(changed_columns, traces.windows.size));
  const auto is_inside = both(within(rows, side), within(columns, side));
  return torch::where(is_inside, torch::where(is_changed, changed, clean),
                      torch::full({}, outside, clean.options()));
}

// The whole maps as the patches leave them.
Tensor whole_maps(const Traces& traces) {
  const auto zeros = torch::zeros_like(traces.windows.x);
  return cells_of(traces, {zeros, zeros, traces.clean.size(2)}, 0.0);
}

struct Slide {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
};

// Runs the layers for one group of patches.
class Pass {
 public:
  Pass(const Network& network, const std::vector<Tensor>& clean, const Tensor& image)
      : network_(network), clean_(clean), image_(image), traces_(clean.size()) {}

  Occluded run(std::span<const Corner> corners, int64_t size) {
    cover(corners, size);
    const auto& layers = network_.architecture().layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto& from = network_.inputs()[i];
      if (!whole_ && looks_at_whole_maps(layers[i].operation)) whole_ = true;
      traces_[i] = whole_ ? step_on_whole(static_cast<int64_t>(i), from)
                          : step_on_windows(static_cast<int64_t>(i), from);
    }
    Occluded result{traces_.back().changed, {}};
    for (const auto& tap : network_.architecture().taps)
      result.at_peaks.push_back(at_peaks(traces_[static_cast<std::size_t>(tap.relu)]));
    return result;
  }

 private:
  static bool looks_at_whole_maps(const Operation& operation) {
    return std::holds_alternative<Interpretable>(operation) ||
           std::holds_alternative<GlobalAverage>(operation) ||
           std::holds_alternative<Flatten>(operation);
  }

  void cover(std::span<const Corner> corners, int64_t size) {
    std::vector<int64_t> x;
    std::vector<int64_t> y;
    for (const auto& corner : corners) {
      x.push_back(corner.x);
      y.push_back(corner.y);
    }
    const auto place = [&](const std::vector<int64_t>& values) {
      return torch::tensor(values, torch::kInt64).to(image_.device());
    };
    covered_ = {image_.unsqueeze(0),
                torch::zeros({std::ssize(corners), image_.size(0), size, size}, image_.options()),
                {place(x), place(y), size}};
  }

  const Traces& trace(int64_t index) const {
    return index < 0 ? covered_ : traces_[static_cast<std::size_t>(index)];
  }

  // From the first layer that looks at whole maps on, all of them.
  Traces step_on_whole(int64_t layer, const std::vector<int64_t>& from) {
    std::vector<Tensor> inputs;
    for (const int64_t index : from) {
      const auto& input = trace(index);
      inputs.push_back(input.windows.size > 0 ? whole_maps(input) : input.changed);
    }
    return {clean_[static_cast<std::size_t>(layer)], network_.evaluate_layer(layer, inputs), {}};
  }

  Traces step_on_windows(int64_t index, const std::vector<int64_t>& from) {
    const auto& layer = network_.architecture().layers[static_cast<std::size_t>(index)];
    const auto& clean = clean_[static_cast<std::size_t>(index)];
    const auto& input = trace(from.front());
    if (const auto* convolution = std::get_if<Convolution>(&layer.operation)) {
      const Slide slide{convolution->kernel, convolution->stride, convolution->padding};
      const auto [cells, windows] = seen_through(input, slide, clean.size(2), 0.0);
      const auto& parameters = network_.parameters();
      const int64_t unpadded = 0;  // the windows bring their border along
      const auto bias = parameters.find(layer.name + ".bias");
      return {clean,
              torch::conv2d(cells, parameters.at(layer.name + ".weight"),
                            bias == parameters.end() ? Tensor() : bias->second, slide.stride,
                            unpadded, 1, convolution->groups),
              windows};
    }
    if (const auto* pool = std::get_if<MaxPool>(&layer.operation)) {
      const auto lowest = -std::numeric_limits<double>::infinity();
      const auto [cells, windows] =
          seen_through(input, {pool->kernel, pool->stride, pool->padding}, clean.size(2), lowest);
      return {clean, torch::max_pool2d(cells, pool->kernel, pool->stride), windows};
    }
    // Cell by cell: branches are brought to the window that holds all of theirs.
    auto windows = input.windows;
    int64_t end = 0;
    for (const int64_t other : from) {
      const auto& theirs = trace(other).windows;
      windows.x = torch::minimum(windows.x, theirs.x);
      windows.y = torch::minimum(windows.y, theirs.y);
      end = std::max(end, theirs.size);
    }
    if (from.size() > 1) {
      for (const int64_t other : from) {
        const auto& theirs = trace(other).windows;
        for (const auto& gap : {theirs.x - windows.x, theirs.y - windows.y})
          end = std::max(end, gap.max().item<int64_t>() + theirs.size);
      }
      windows.size = std::min(end, clean.size(2));
      windows.x = windows.x.clamp_max(clean.size(2) - windows.size);
      windows.y = windows.y.clamp_max(clean.size(2) - windows.size);
    }
    std::vector<Tensor> inputs;
    for (const int64_t other : from) {
      inputs.push_back(from.size() > 1 ? cells_of(trace(other), windows, 0.0)
                                       : trace(other).changed);
    }
    return {clean, network_.evaluate_layer(index, inputs), windows};
  }

  static std::pair<Tensor, Windows> seen_through(const Traces& input,
                                                 const Slide& slide,
                                                 int64_t side,
                                                 double outside) {
    auto windows = reached(input.windows, slide.kernel, slide.stride, slide.padding, side);
    const auto seen = along(
        windows, [&](const Tensor& first) { return first * slide.stride - slide.padding; },
        (windows.size - 1) * slide.stride + slide.kernel);
    return {cells_of(input, seen, outside), std::move(windows)};
  }

  static Tensor at_peaks(const Traces& traces) {
    const auto maps = traces.windows.size > 0 ? whole_maps(traces) : traces.changed;
    const auto peak = traces.clean.flatten(2).argmax(2, true);  // [1, filters, 1]
    return maps.flatten(2).gather(2, peak.expand({maps.size(0), -1, -1})).squeeze(2);
  }

  const Network& network_;
  const std::vector<Tensor>& clean_;
  Tensor image_;
  Traces covered_;
  std::vector<Traces> traces_;
  bool whole_ = false;
};

}  // namespace

std::vector<Corner> patch_corners(int64_t side, int64_t size, int64_t step) {
  expects(0 < size && size <= side && step > 0, "patches of {} pixels every {} on {}", size, step,
          side);
  std::vector<int64_t> starts;
  for (int64_t start = 0; start + size < side; start += step) starts.push_back(start);
  starts.push_back(side - size);
  std::vector<Corner> corners;
  for (const int64_t y : starts) {
    for (const int64_t x : starts) corners.push_back({x, y});
  }
  return corners;
}

Occluded evaluate_occluded(const Network& network,
                           const Tensor& image,
                           std::span<const Corner> corners,
                           int64_t size) {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> clean;
  for (std::size_t i = 0; i < network.inputs().size(); ++i) {
    std::vector<Tensor> given;
    for (const int64_t from : network.inputs()[i])
      given.push_back(from < 0 ? image.unsqueeze(0) : clean[static_cast<std::size_t>(from)]);
    clean.push_back(network.evaluate_layer(static_cast<int64_t>(i), given));
  }
  std::vector<Tensor> logits;
  std::vector<std::vector<Tensor>> at_peaks(network.architecture().taps.size());
  for (std::size_t first = 0; first < corners.size(); first += kPatchesAtOnce) {
    const auto some =
        corners.subspan(first, std::min<std::size_t>(kPatchesAtOnce, corners.size() - first));
    auto part = Pass(network, clean, image).run(some, size);
    logits.push_back(part.logits);
    for (std::size_t t = 0; t < at_peaks.size(); ++t) at_peaks[t].push_back(part.at_peaks[t]);
  }
  Occluded result{torch::cat(logits), {}};
  for (const auto& parts : at_peaks) result.at_peaks.push_back(torch::cat(parts));
  return result;
}

}  // namespace partwise::networks
