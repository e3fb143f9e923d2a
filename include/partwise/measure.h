#pragma once

#include "partwise/error.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

// How interpretable the maps of a layer are: the program's own numbers on tensors of any network.
// maps [rows, filters, n, n] are after ReLU, one row per image that shows an object; any device and
// floating type. What does not fit is a partwise::Error.
namespace partwise::measure {

// A number, its 95 % bootstrap interval over images and filters, and what it is to be held against.
struct Finding {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
  std::map<std::string, double> controls;
};

struct Bootstrap {
  int64_t resamples = 1000;
  int64_t seed = 1;
};

// Where the cells of a map lie in the network's square input: cell (i, j) at
// (offset + stride * j, offset + stride * i), pixels, 0-based.
struct Grid {
  double offset = 0.0;
  double stride = 1.0;
  int64_t input_side = 0;
};

// Share of the activation that lies near each map's peak; maps before the mask. Controls:
// uniform_map and scattered (docs/metrics.md).
Finding purity(const at::Tensor& maps, const Bootstrap& bootstrap = {});

// The category each filter stands for, [filters] int64: the one it fires most for on average.
//   labels [rows] int64: 0 .. categories - 1, or -1 for a row of none; training rows
at::Tensor filter_categories(const at::Tensor& maps, const at::Tensor& labels, int64_t categories);

struct PartInterpretability {
  Finding finding;           // controls: shuffled_images, constant_centre
  at::Tensor filters;        // [filters] float64: P_f; NaN where a filter's category shows no part
  at::Tensor best_part;      // [filters] int64; -1: none
  double empty_share = 0.0;  // of the rows without a unit above a filter's threshold
};

// Share of the images in which a filter's strongest units cover a part of the object; maps after
// the mask.
//   parts [rows, parts, input_side, input_side] bool: the pixels of each part; none: not shown
//   labels as above; parts of different categories are different parts
//   filter_category [filters] int64, as filter_categories gives it
PartInterpretability part_interpretability(const at::Tensor& maps,
                                           const Grid& grid,
                                           const at::Tensor& parts,
                                           const at::Tensor& labels,
                                           const at::Tensor& filter_category,
                                           const Bootstrap& bootstrap = {});

// Activations for `partwise referee` (docs/dump.md).
struct Dump {
  at::Tensor maps;
  at::Tensor annotation;       // [rows] int64: ids in dataset.json; -1: an image without object
  at::Tensor filter_category;  // [filters] int64, ids in dataset.json; undefined: not written
  at::Tensor masked;           // like maps; undefined: there is no mask
  Grid grid;
  std::optional<Grid> masked_grid;  // where it differs: the mask lies behind pooling
  std::string layer;
  std::string net;
  std::string split;  // of the rows to be judged; empty: all
  std::string task;   // "multi" or "binary:CATEGORY"; empty: not said
};

// A safetensors file, written atomically.
void write_dump(const std::filesystem::path& path, const Dump& dump);

}  // namespace partwise::measure
