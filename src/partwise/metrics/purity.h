#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/maps.h"

namespace partwise::metrics {

inline constexpr double kPurityBeta = 4.0;

// Semantic purity (paper, "Semantic purity of neural activations"): the share of activation that
// lies where the template of the map's peak is positive, sum x 1(U_peak > 0) / sum x. Sums run over
// the filters of a row, the mean over rows. Rows without any activation are left out; their share,
// where there are any, is the fact "silent_rows", and a layer that never fires has no purity.
// U_peak > 0 where the L1 distance to the peak, in cells, is below side / kPurityBeta. `maps` are
// those before the mask. Controls: uniform_map (the same peaks, each map's activation spread evenly
// over its cells: what purity 'no preference' would give) and scattered (each map's values but its
// peak put in random cells; its expectation, x_max + (sum x - x_max) (support - 1) / (cells - 1):
// how pure maps as sparse as these are anyway). One pass; 32 bytes per map are kept.
Finding purity(const MapSource& maps, const BootstrapOptions& options);

}  // namespace partwise::metrics
