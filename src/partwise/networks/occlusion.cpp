#include "partwise/networks/occlusion.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"
#include "partwise/tensors/torch_threads.h"

#include <algorithm>
#include <limits>
#include <utility>

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

// What cells_of says, row by row of memory.
Tensor copied_cells(const Traces& traces, const Windows& wanted, double outside) {
  const auto clean = traces.clean.contiguous();
  const auto changed = traces.changed.contiguous();
  const int64_t channels = clean.size(1);
  const int64_t side = clean.size(2);
  const int64_t size = wanted.size;
  const int64_t within = traces.windows.size;
  auto cells = torch::empty({wanted.x.size(0), channels, size, size}, clean.options());
  const auto* from = clean.data_ptr<float>();
  const auto* patched = changed.data_ptr<float>();
  auto* to = cells.data_ptr<float>();
  const auto* x = wanted.x.data_ptr<int64_t>();
  const auto* y = wanted.y.data_ptr<int64_t>();
  const auto* changed_x = traces.windows.x.data_ptr<int64_t>();
  const auto* changed_y = traces.windows.y.data_ptr<int64_t>();
  // The common cells of [first, first + count) and of a row that starts at `start`, in its places.
  const auto common = [](int64_t start, int64_t length, int64_t first, int64_t count) {
    const int64_t low = std::clamp<int64_t>(first - start, 0, length);
    return std::pair{low, std::clamp<int64_t>(first + count - start, low, length)};
  };
  tensors::in_parallel(cells.size(0) * channels, 64, [&](int64_t begin, int64_t end) {
    for (int64_t map = begin; map < end; ++map) {
      const int64_t patch = map / channels;
      const auto [left, right] = common(x[patch], size, 0, side);
      const auto [new_left, new_right] = common(x[patch], size, changed_x[patch], within);
      for (int64_t i = 0; i < size; ++i) {
        float* row = to + (map * size + i) * size;
        const int64_t at = y[patch] + i;
        if (at < 0 || at >= side) {
          std::fill(row, row + size, static_cast<float>(outside));
          continue;
        }
        const float* old = from + ((map % channels) * side + at) * side + x[patch];
        std::fill(row, row + left, static_cast<float>(outside));
        std::copy(old + left, old + right, row + left);
        std::fill(row + right, row + size, static_cast<float>(outside));
        const int64_t place = at - changed_y[patch];
        if (place < 0 || place >= within) continue;
        const float* fresh =
            patched + (map * within + place) * within + x[patch] - changed_x[patch];
        // A window may reach out of the map, where `outside` stays.
        const int64_t low = std::max(left, new_left);
        const int64_t high = std::max(low, std::min(right, new_right));
        std::copy(fresh + low, fresh + high, row + low);
      }
    }
  });
  return cells;
}

// The cells of these windows as the patches leave them: [patches, channels, size, size]; outside
// the maps `outside`.
Tensor cells_of(const Traces& traces, const Windows& wanted, double outside) {
  if (traces.clean.is_cpu() && traces.clean.scalar_type() == torch::kFloat32)
    return copied_cells(traces, wanted, outside);
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
  // clean: the layers' outputs for the uncovered image. wanted [layers]: which to run.
  Pass(const Network& network,
       const std::vector<Tensor>& clean,
       const Tensor& image,
       const std::vector<bool>& wanted)
      : network_(network), clean_(clean), image_(image), traces_(clean.size()), wanted_(wanted) {}

  void run(std::span<const Corner> corners, int64_t size) {
    cover(corners, size);
    const auto& layers = network_.architecture().layers;
    for (std::size_t i = 0; i < clean_.size(); ++i) {
      if (!wanted_[i]) continue;
      const auto& from = network_.inputs()[i];
      if (!whole_ && looks_at_whole_maps(layers[i].operation)) whole_ = true;
      traces_[i] = whole_ ? step_on_whole(static_cast<int64_t>(i), from)
                          : step_on_windows(static_cast<int64_t>(i), from);
    }
  }

  // A layer's whole output.
  Tensor output(int64_t layer) const {
    const auto& from = trace(layer);
    return from.windows.size > 0 ? whole_maps(from) : from.changed;
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
    for (const int64_t index : from) inputs.push_back(output(index));
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

  const Network& network_;
  const std::vector<Tensor>& clean_;
  Tensor image_;
  Traces covered_;
  std::vector<Traces> traces_;
  const std::vector<bool>& wanted_;
  bool whole_ = false;
};

// The layers' outputs for the uncovered image, up to layer `last`.
std::vector<Tensor> clean_outputs(const Network& network, const Tensor& image, int64_t last) {
  std::vector<Tensor> clean;
  for (int64_t i = 0; i <= last; ++i) {
    std::vector<Tensor> given;
    for (const int64_t from : network.inputs()[static_cast<std::size_t>(i)])
      given.push_back(from < 0 ? image.unsqueeze(0) : clean[static_cast<std::size_t>(from)]);
    clean.push_back(network.evaluate_layer(i, given));
  }
  return clean;
}

// answer(pass), group by group of patches, one below the other.
template <typename Answer>
Tensor by_groups(const Network& network,
                 const std::vector<Tensor>& clean,
                 const Tensor& image,
                 const std::vector<bool>& wanted,
                 std::span<const Corner> corners,
                 int64_t size,
                 const Answer& answer) {
  std::vector<Tensor> answers;
  for (std::size_t first = 0; first < corners.size(); first += kPatchesAtOnce) {
    Pass pass(network, clean, image, wanted);
    pass.run(corners.subspan(first, std::min<std::size_t>(kPatchesAtOnce, corners.size() - first)),
             size);
    answers.push_back(answer(pass));
  }
  return torch::cat(answers);
}

// One cell of every channel of a layer, without the rest of the layer's maps.
class PeakCells {
 public:
  // cells [channels] int64, row-major: the one wanted of each channel of layer `layer`
  PeakCells(const Network& network, const std::vector<Tensor>& clean, int64_t layer, Tensor cells)
      : network_(network), clean_(clean), layer_(layer), cells_(std::move(cells)) {
    wanted_.resize(clean.size());
    if (apart()) {
      int64_t first = 0;
      for (const int64_t from : inputs()) {
        const int64_t channels = clean[static_cast<std::size_t>(from)].size(1);
        below_.emplace_back(network, clean, from,
                            concatenates() ? cells_.slice(0, first, first + channels) : cells_);
        first += channels;
        for (std::size_t i = 0; i < wanted_.size(); ++i)
          wanted_[i] = wanted_[i] || below_.back().wanted_[i];
      }
    } else if (const auto* convolution = as<Convolution>();
               convolution != nullptr && convolution->groups == 1) {
      sort_weights(*convolution);
      want(inputs().front());
    } else {
      want(layer);
    }
  }

  // [layers]: those whose outputs `of` looks at, and all before them.
  const std::vector<bool>& wanted() const { return wanted_; }

  // [patches, channels]
  Tensor of(const Pass& pass) const {
    if (!below_.empty()) {
      std::vector<Tensor> given;
      for (const auto& cells : below_) given.push_back(cells.of(pass).unsqueeze(2).unsqueeze(3));
      return network_.evaluate_layer(layer_, given).flatten(1);
    }
    return groups_.empty() ? gathered(pass.output(layer_)) : convolved(pass);
  }

 private:
  // Filters that want the same cell stand together.
  struct Group {
    int64_t row = 0;
    int64_t column = 0;
    Tensor weight;  // [kernel x kernel x channels, filters]
  };

  template <typename T>
  const T* as() const {
    return std::get_if<T>(
        &network_.architecture().layers[static_cast<std::size_t>(layer_)].operation);
  }
  bool concatenates() const { return as<Concatenate>() != nullptr; }
  // Whether a cell of a channel is made of the same cell of the same channels below.
  bool apart() const {
    return concatenates() || as<Add>() != nullptr || as<Relu>() != nullptr ||
           as<BatchNorm>() != nullptr;
  }
  const std::vector<int64_t>& inputs() const {
    return network_.inputs()[static_cast<std::size_t>(layer_)];
  }

  void want(int64_t layer) {
    if (layer < 0 || wanted_[static_cast<std::size_t>(layer)]) return;
    wanted_[static_cast<std::size_t>(layer)] = true;
    for (const int64_t from : network_.inputs()[static_cast<std::size_t>(layer)]) want(from);
  }

  void sort_weights(const Convolution& convolution) {
    const auto& name = network_.architecture().layers[static_cast<std::size_t>(layer_)].name;
    const auto& parameters = network_.parameters();
    const auto [sorted, order] = cells_.sort();
    back_ = order.argsort();
    const auto weight =
        parameters.at(name + ".weight").permute({0, 2, 3, 1}).index_select(0, order).flatten(1);
    if (const auto bias = parameters.find(name + ".bias"); bias != parameters.end())
      bias_ = bias->second.index_select(0, order);
    const auto cells = sorted.to(torch::kCPU).contiguous();
    const auto* cell = cells.data_ptr<int64_t>();
    const int64_t side = clean_[static_cast<std::size_t>(layer_)].size(2);
    for (int64_t first = 0; first < cells.size(0);) {
      int64_t end = first;
      while (end < cells.size(0) && cell[end] == cell[first]) ++end;
      groups_.push_back({cell[first] / side * convolution.stride,
                         cell[first] % side * convolution.stride, weight.slice(0, first, end).t()});
      first = end;
    }
  }

  Tensor convolved(const Pass& pass) const {
    const auto* convolution = as<Convolution>();
    const int64_t kernel = convolution->kernel;
    const std::vector<int64_t> border(4, convolution->padding);
    // Channels last, so that what a cell sees lies together.
    const auto maps = torch::constant_pad_nd(pass.output(inputs().front()), border)
                          .permute({0, 2, 3, 1})
                          .contiguous();
    std::vector<Tensor> columns;
    for (const auto& [row, column, weight] : groups_) {
      const auto seen = maps.slice(1, row, row + kernel).slice(2, column, column + kernel);
      columns.push_back(torch::mm(seen.flatten(1), weight));
    }
    auto values = torch::cat(columns, 1);
    if (bias_.defined()) values = values + bias_;
    return values.index_select(1, back_);
  }

  Tensor gathered(const Tensor& maps) const {
    const auto cells = cells_.view({1, -1, 1}).expand({maps.size(0), -1, -1});
    return maps.flatten(2).gather(2, cells).squeeze(2);
  }

  const Network& network_;
  const std::vector<Tensor>& clean_;
  int64_t layer_;
  Tensor cells_;
  std::vector<bool> wanted_;
  std::vector<PeakCells> below_;  // of the inputs, where the layer works cell by cell
  std::vector<Group> groups_;     // of a convolution
  Tensor bias_;
  Tensor back_;  // from the groups' order to the channels'
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

Tensor occluded_logits(const Network& network,
                       const Tensor& image,
                       std::span<const Corner> corners,
                       int64_t size) {
  const torch::NoGradGuard no_grad;
  const auto last = std::ssize(network.inputs()) - 1;
  const auto clean = clean_outputs(network, image, last);
  const std::vector<bool> all(clean.size(), true);
  return by_groups(network, clean, image, all, corners, size,
                   [&](const Pass& pass) { return pass.output(last); });
}

Tensor occluded_peaks(const Network& network,
                      std::size_t tap,
                      const Tensor& image,
                      std::span<const Corner> corners,
                      int64_t size) {
  const torch::NoGradGuard no_grad;
  const int64_t last = network.architecture().taps.at(tap).relu;
  const auto clean = clean_outputs(network, image, last);
  const PeakCells peaks(network, clean, last, clean.back().flatten(2).argmax(2).flatten());
  return by_groups(network, clean, image, peaks.wanted(), corners, size,
                   [&](const Pass& pass) { return peaks.of(pass); });
}

}  // namespace partwise::networks
