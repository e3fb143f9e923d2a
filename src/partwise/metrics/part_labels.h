#pragma once

#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/part_overlap.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

struct PartLabels {
  FilterMean iou;     // with each filter's part; controls: shuffled_images, constant_centre; fact:
                      // share_of_filters, by category and part, of those labelled; NaN without any
  FilterMean margin;  // to the second part, NaN if the category shows fewer than two; control:
                      // shuffled_images
  std::vector<int64_t> parts;  // [filters]: index into its category's parts; -1 if no row shows one
};

// Which part each filter stands for: the part of its category whose masks its regions overlap most,
// argmax_k of the mean over the rows showing part k of IoU(S_f, part k); ties: the first part. S_f
// as in part_interpretability, regions.places included (options.iou is not used), an empty region
// counts as 0. `filter_category` [filters], -1: the filter is left out. The interval keeps T_f from
// the full sample and takes the best part anew in every resample. A label is worth its margin and
// its distance from shuffled_images: some part is always the best.
PartLabels part_labels(const MapSource& maps,
                       const UnitGrid& grid,
                       const Truth& truth,
                       std::span<const int64_t> filter_category,
                       const InterpretabilityOptions& options,
                       const BootstrapOptions& bootstrap,
                       const Regions& regions = {});

}  // namespace partwise::metrics
