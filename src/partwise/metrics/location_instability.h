#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/statistics.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace partwise::metrics {

struct InstabilityOptions {
  int64_t top_images = 100;  // rows with the highest peak, per filter and landmark
  int64_t shuffles = 20;     // permutations behind D_shuffle and draws behind the random control

  static auto fields() {
    using Row = Field<InstabilityOptions, int64_t>;
    return std::tuple{
        Row{"top_images", &InstabilityOptions::top_images, "images per filter and landmark", 2},
        Row{"shuffles", &InstabilityOptions::shuffles, "permutations of the landmark control", 1},
    };
  }
};

struct FilterInstability {
  int64_t category = -1;            // whose landmarks were used
  double instability = kNaN;        // D: mean over landmarks; NaN if no landmark has two rows
  double ratio = kNaN;              // D / D_shuffle; NaN if D_shuffle is 0 or does not exist
  std::vector<double> by_landmark;  // D_{f,k}, NaN where undefined
};

struct LocationInstability {
  Finding
      instability;  // D; controls: constant_centre, uniform_random, shuffled_landmarks (D_shuffle)
  Finding ratio;    // mean over filters of D_f / D_shuffle,f; controls: constant_filter = 1
  std::vector<FilterInstability> filters;
};

// Location instability (paper, "Evaluation metric: location instability"). The peak of each map, at
// its unit centre p; for landmark k the rows of the filter's category with exactly one visible
// instance; of those the `top_images` with the highest peak value (ties: earlier row first);
// D_{f,k} = sample standard deviation (N - 1) of |p_k - p| / diagonal, diagonal = input_side * sqrt
// 2; D_f = mean over k where N >= 2; D = mean over f. `filter_category` [filters]: index into
// truth.categories, or -1: the category with the lowest D_f is taken (the paper's rule for ordinary
// nets; it flatters them). D_shuffle: the same peaks, landmarks permuted among the same rows, mean
// over `shuffles` permutations. constant_centre: a filter that always fires at the input's centre,
// (input_side - 1) / 2, on the same rows. uniform_random: cells drawn uniformly, on the same rows.
// A filter that never fires still has a peak (cell 0). Filters for which a number does not exist
// are left out of its mean.
//
// With `places` [filters, rows], pixels of the input, p is the place given for the filter and row
// in place of the unit centre; rows are chosen by their peaks and uniform_random draws cells all
// the same.
//
// D_shuffle is a mean over permutations, not the root of the exact mean of D^2 (which has a closed
// form), because a filter that knows nothing of the landmark has one of those permutations: its D
// has exactly that mean, so its ratio is 1 at any N, where the root mean square would give c4(N)
// < 1.
//
// Intervals are centred bootstrap intervals and recompute all this in every resample: a row drawn
// twice counts as two of the `top_images`, and D_shuffle comes from up to four permutations
// (Permutations) of the rows selected there, whose noise widens the ratio's interval by a tenth at
// most. The category of a filter with -1 stays the one chosen on the full sample.
LocationInstability location_instability(const MapSummaries& maps,
                                         const UnitGrid& grid,
                                         const Truth& truth,
                                         std::span<const int64_t> filter_category,
                                         const InstabilityOptions& options,
                                         const BootstrapOptions& bootstrap,
                                         std::span<const Point> places = {});

}  // namespace partwise::metrics
