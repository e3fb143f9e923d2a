#pragma once

#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/maps.h"
#include "partwise/models/examples.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace partwise::models {

// One tapped layer over the examples. The maps of the rows that show an object of the task lie on
// disk (ScratchMaps); of all rows only peaks and masses are kept.
struct LayerActivations {
  std::string name;
  std::string role;
  metrics::UnitGrid grid;         // of maps
  metrics::UnitGrid masked_grid;  // of masked: another where the mask lies behind pooling
  metrics::MapSource maps;        // after ReLU, before the mask
  metrics::MapSource masked;      // the same where the layer has no mask
  metrics::MapSummaries judged;   // all rows, before the mask
};

struct Activations {
  Tensor logits;  // [all rows, outputs]
  std::vector<LayerActivations> layers;
};

// Tensors as metrics see them: [rows, filters, n, n], on the CPU, float32, contiguous.
metrics::Maps view_of(const Tensor& maps);
// A tensor of whole numbers.
std::vector<int64_t> to_vector(const Tensor& tensor);

// The tapped layers of a network, without activations.
std::vector<LayerActivations> tapped_layers(const networks::Network& network);

// The network over the examples, batch by batch; always the same batches, as the last digits of a
// convolution may depend on them. noise_seed: with Gaussian noise of 0.2, cut at +-0.25, added to
// the normalised pixels (as EvalProtoPNet does).
using VisitOutput = std::function<void(int64_t first_row, const networks::Output& output)>;
void for_each_output(const networks::Network& network,
                     const Examples& examples,
                     const std::string& device,
                     const VisitOutput& visit,
                     std::optional<uint64_t> noise_seed = std::nullopt);

// The network over the examples, looked at once.
Activations collect_activations(const networks::Network& network,
                                const Examples& examples,
                                const std::string& device,
                                int threads);

// Peaks and masses of the maps before the mask, per tapped layer, without keeping the maps.
std::vector<metrics::MapSummaries> collect_summaries(
    const networks::Network& network,
    const Examples& examples,
    const std::string& device,
    int threads,
    std::optional<uint64_t> noise_seed = std::nullopt);

// The training rows as a network sees them, per tapped layer, and the category each filter stands
// for: argmax_c E sum x over those rows (CategoryRule::training_rows).
struct TrainingView {
  std::vector<metrics::MapSummaries> summaries;
  std::vector<int64_t> row_category;
  std::vector<std::vector<int64_t>> filter_category;  // [layer][filter]
};
TrainingView view_training(const networks::Network& network,
                           const Examples& train,
                           int64_t categories,
                           const std::string& device,
                           int threads);

// Maps of more rows than memory should hold, in a file without a name in the folder for temporary
// files (TMPDIR); it goes with the last source. Rows are appended batch by batch and can then be
// passed over as often as a metric asks, 64 at a time.
class ScratchMaps {
 public:
  ScratchMaps();

  // All batches have one number of filters and one side. An Error says when the disk is full.
  void append(const metrics::Maps& batch);

  [[nodiscard]] metrics::MapSource source() const;

 private:
  struct File;
  std::shared_ptr<File> file_;
  int64_t rows_ = 0;
  int64_t filters_ = 0;
  int64_t side_ = 0;
};

}  // namespace partwise::models
