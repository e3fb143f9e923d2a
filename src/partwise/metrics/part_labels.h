#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/part_overlap.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

struct FilterPart {
  int64_t category = -1;
  int64_t part = -1;            // index into the category's parts; -1 if no row shows one
  double iou = 0.0;             // its mean IoU
  double margin = 0.0;          // to the second; NaN if the category shows fewer than two parts
  double chance = 0.0;          // the best mean IoU when regions are laid over other rows
  std::vector<double> by_part;  // mean IoU over the rows that show the part; NaN without such rows
};

struct PartLabels {
  Finding iou;     // mean over filters; controls: shuffled_images, constant_centre
  Finding margin;  // mean over filters; control: shuffled_images
  std::vector<std::vector<double>> share;  // [category][part]: of the category's labelled filters;
                                           // NaN if there are none
  std::vector<FilterPart> filters;
};

// Which part each filter stands for: the part of its category whose masks its regions overlap most,
// argmax_k of the mean over the rows showing part k of IoU(S_f, part k); ties: the first part. S_f
// as in part_interpretability (options.iou is not used), an empty region counts as 0.
// `filter_category` [filters], -1: the filter is left out. The interval keeps T_f from the full
// sample and takes the best part anew in every resample. A label is worth its margin and its
// distance from `chance`: some part is always the best.
PartLabels part_labels(const MapSource& maps,
                       const UnitGrid& grid,
                       const Truth& truth,
                       std::span<const int64_t> filter_category,
                       const InterpretabilityOptions& options,
                       const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
