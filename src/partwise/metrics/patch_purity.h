#pragma once

#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/truth.h"

#include <cstdint>

namespace partwise::metrics {

struct PatchPurityOptions {
  int64_t top_images = 10;
  double box = 32.0 / 224.0;  // side of the patch / input side

  static auto fields() {
    return std::tuple{
        Field<PatchPurityOptions, int64_t>{"patch_images", &PatchPurityOptions::top_images,
                                           "images per filter in patch purity", 1},
        Field<PatchPurityOptions, double>{"patch_box", &PatchPurityOptions::box,
                                          "side of a patch / input side", 1e-3, 1.0},
    };
  }
};

struct PatchPurity {
  FilterMean purity;  // controls: shuffled_images, constant_centre; facts: deviation over filters
                      // (population), as PIP-Net prints it, and part_related, the share of filters
                      // with purity > 1/2
  FilterMean strict;  // the same controls
};

// Part purity of PIP-Net (Nauta et al. 2023) on any maps. For each filter the `top_images` rows
// with the strongest peaks (ties: the earlier row; silent rows may be among them); a square patch
// about the unit centre of each peak, moved inside the picture; per part the share of those rows
// *in which the part is visible* whose patch holds a landmark of it; purity = the largest share
// over parts; NaN if no part is visible there. Mean over filters. Landmarks of one
// name are one part in all categories, "left x" counts as "right x".
//
// A part visible in a single top row makes that row decide; `strict` divides by all top rows
// instead. Not like PIP-Net: patches lie about unit centres (theirs: on an even grid of
// (side - 32) / (n - 1) pixels), and no filter is left out for having no weight in a classifier.
// shuffled_images: patches laid over the landmarks of one other row of the same category each.
// constant_centre: a patch at the input's centre in the same rows.
PatchPurity patch_purity(const MapSummaries& maps,
                         const UnitGrid& grid,
                         const Truth& truth,
                         const PatchPurityOptions& options,
                         const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
