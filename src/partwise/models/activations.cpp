#include "partwise/models/activations.h"

#include "partwise/base/error.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace partwise::models {
namespace {

constexpr int64_t kBatch = 64;
constexpr double kNoise = 0.2;
constexpr double kNoiseLimit = 0.25;

// As metrics see them.
Tensor plain(const Tensor& maps) {
  return maps.to(torch::kCPU, torch::kFloat32).contiguous();
}

// Drawn on the CPU, so that every device sees the same noise.
Tensor noise_for(const Tensor& images, uint64_t seed) {
  auto generator = torch::make_generator<torch::CPUGeneratorImpl>(seed);
  const auto noise = torch::randn(images.sizes(), generator, torch::kFloat32) * kNoise;
  return noise.clamp(-kNoiseLimit, kNoiseLimit).to(images.device());
}

void place(const metrics::MapSummaries& batch, int64_t first_row, metrics::MapSummaries& all) {
  const auto copy = [&](const auto& from, auto& to) {
    for (int64_t f = 0; f < all.filters; ++f) {
      std::copy_n(from.begin() + f * batch.rows, batch.rows, to.begin() + f * all.rows + first_row);
    }
  };
  copy(batch.cells, all.cells);
  copy(batch.peaks, all.peaks);
  copy(batch.masses, all.masses);
}

metrics::MapSummaries room_for(int64_t rows, const metrics::Maps& batch) {
  const auto count = static_cast<std::size_t>(rows * batch.filters);
  return {rows,
          batch.filters,
          batch.side,
          std::vector<int32_t>(count),
          std::vector<float>(count),
          std::vector<double>(count)};
}

}  // namespace

metrics::Maps view_of(const Tensor& maps) {
  const auto count = static_cast<std::size_t>(maps.numel());
  return {{maps.data_ptr<float>(), count}, maps.size(0), maps.size(1), maps.size(2)};
}

std::vector<int64_t> to_vector(const Tensor& tensor) {
  const auto plain = tensor.to(torch::kCPU, torch::kInt64).contiguous();
  return {plain.data_ptr<int64_t>(), plain.data_ptr<int64_t>() + plain.numel()};
}

std::vector<LayerActivations> tapped_layers(const networks::Network& network) {
  const auto& architecture = network.architecture();
  std::vector<LayerActivations> layers;
  for (const auto& tap : architecture.taps) {
    const auto grid_behind = [&](int64_t layer) -> metrics::UnitGrid {
      const auto& geometry = network.geometry()[static_cast<std::size_t>(layer)];
      return {geometry.offset, geometry.stride, architecture.input_side};
    };
    layers.push_back({tap.name,
                      tap.role,
                      grid_behind(tap.relu),
                      grid_behind(tap.interpretable >= 0 ? tap.interpretable : tap.relu),
                      {},
                      {},
                      {}});
  }
  return layers;
}

void for_each_output(const networks::Network& network,
                     const Examples& examples,
                     const std::string& device,
                     const VisitOutput& visit,
                     std::optional<uint64_t> noise_seed) {
  const torch::NoGradGuard no_grad;
  Progress progress("looking at", examples.rows(), "images");
  for (int64_t first = 0; first < examples.rows(); first += kBatch) {
    const auto pixels = examples.pixels.slice(0, first, std::min(first + kBatch, examples.rows()));
    auto images = normalised(pixels.to(torch::Device(device)));
    if (noise_seed)
      images = images + noise_for(images, derive_seed({*noise_seed, static_cast<uint64_t>(first)}));
    visit(first, network.evaluate(images));
    progress.advance(pixels.size(0));
  }
}

Activations collect_activations(const networks::Network& network,
                                const Examples& examples,
                                const std::string& device,
                                int threads) {
  const auto& taps = network.architecture().taps;
  Activations all;
  all.layers = tapped_layers(network);
  std::vector<ScratchMaps> maps(taps.size());
  std::vector<ScratchMaps> masked(taps.size());
  std::vector<Tensor> logits;
  const auto shows_object = examples.category.ge(0);
  for_each_output(network, examples, device, [&](int64_t first, const networks::Output& output) {
    logits.push_back(plain(output.logits));
    const auto rows = output.logits.size(0);
    const auto objects = shows_object.slice(0, first, first + rows).nonzero().flatten();
    for (std::size_t t = 0; t < taps.size(); ++t) {
      auto& layer = all.layers[t];
      const auto seen = plain(output.taps[t].maps);
      if (layer.judged.rows == 0) layer.judged = room_for(examples.rows(), view_of(seen));
      place(metrics::summarise(view_of(seen), threads), first, layer.judged);
      const auto keep = [&](const Tensor& batch, ScratchMaps& scratch) {
        const auto chosen = batch.index_select(0, objects);
        scratch.append(view_of(chosen));
      };
      keep(seen, maps[t]);
      if (taps[t].interpretable >= 0) keep(plain(output.taps[t].masked), masked[t]);
    }
  });
  all.logits = torch::cat(logits);
  for (std::size_t t = 0; t < taps.size(); ++t) {
    all.layers[t].maps = maps[t].source();
    all.layers[t].masked = taps[t].interpretable >= 0 ? masked[t].source() : all.layers[t].maps;
  }
  return all;
}

std::vector<metrics::MapSummaries> collect_summaries(const networks::Network& network,
                                                     const Examples& examples,
                                                     const std::string& device,
                                                     int threads,
                                                     std::optional<uint64_t> noise_seed) {
  std::vector<metrics::MapSummaries> layers(network.architecture().taps.size());
  const auto visit = [&](int64_t first, const networks::Output& output) {
    for (std::size_t t = 0; t < layers.size(); ++t) {
      const auto batch = plain(output.taps[t].maps);
      const auto maps = view_of(batch);
      if (layers[t].rows == 0) layers[t] = room_for(examples.rows(), maps);
      place(metrics::summarise(maps, threads), first, layers[t]);
    }
  };
  for_each_output(network, examples, device, visit, noise_seed);
  return layers;
}

TrainingView view_training(const networks::Network& network,
                           const Examples& train,
                           int64_t categories,
                           const std::string& device,
                           int threads) {
  TrainingView view;
  view.summaries = collect_summaries(network, train, device, threads);
  view.row_category = to_vector(train.category);
  for (const auto& layer : view.summaries) {
    view.filter_category.push_back(
        metrics::strongest_category(layer, view.row_category, categories));
  }
  return view;
}

namespace {

constexpr int64_t kRowsPerRead = 64;

std::string temporary_folder() {
  std::error_code problem;
  const auto folder = std::filesystem::temp_directory_path(problem);
  ensure(!problem, "TMPDIR: activations cannot be kept there ({}); name a folder that exists",
         problem.message());
  return folder.string();
}

}  // namespace

struct ScratchMaps::File {
  std::string folder = temporary_folder();
  int descriptor = -1;

  File() {
    auto name = folder + "/partwise-maps-XXXXXX";
    descriptor = mkstemp(name.data());
    ensure(descriptor >= 0, "{}: cannot be written to ({}); set TMPDIR to another folder", folder,
           std::strerror(errno));
    unlink(name.c_str());
  }
  ~File() { close(descriptor); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(int64_t offset, std::span<const float> values) const {
    const auto bytes = std::as_bytes(values);
    for (std::size_t done = 0; done < bytes.size();) {
      const auto wrote = pwrite(descriptor, bytes.data() + done, bytes.size() - done,
                                offset + static_cast<int64_t>(done));
      ensure(wrote > 0, "{}: cannot hold the activations ({}); set TMPDIR to a larger folder",
             folder, std::strerror(errno));
      done += static_cast<std::size_t>(wrote);
    }
  }

  void read(int64_t offset, std::span<float> values) const {
    const auto bytes = std::as_writable_bytes(values);
    for (std::size_t done = 0; done < bytes.size();) {
      const auto got = pread(descriptor, bytes.data() + done, bytes.size() - done,
                             offset + static_cast<int64_t>(done));
      ensure(got > 0, "{}: activations written there cannot be read again ({})", folder,
             std::strerror(errno));
      done += static_cast<std::size_t>(got);
    }
  }
};

ScratchMaps::ScratchMaps() : file_(std::make_shared<File>()) {}

void ScratchMaps::append(const metrics::Maps& batch) {
  if (rows_ == 0) {
    filters_ = batch.filters;
    side_ = batch.side;
  }
  expects(batch.filters == filters_ && batch.side == side_,
          "a batch of {} filters and side {} behind one of {} and {}", batch.filters, batch.side,
          filters_, side_);
  const auto row_bytes = filters_ * side_ * side_ * static_cast<int64_t>(sizeof(float));
  file_->write(rows_ * row_bytes, batch.values);
  rows_ += batch.rows;
}

metrics::MapSource ScratchMaps::source() const {
  const auto each_batch = [file = file_, rows = rows_, filters = filters_,
                           side = side_](const metrics::VisitBatch& visit) {
    const int64_t row_values = filters * side * side;
    std::vector<float> values;
    for (int64_t first = 0; first < rows; first += kRowsPerRead) {
      const int64_t count = std::min(kRowsPerRead, rows - first);
      values.resize(static_cast<std::size_t>(count * row_values));
      file->read(first * row_values * static_cast<int64_t>(sizeof(float)), values);
      visit({values, count, filters, side}, first);
    }
  };
  return {rows_, filters_, side_, each_batch};
}

}  // namespace partwise::models
