#pragma once

#include "partwise/base/options.h"
#include "partwise/explaining/part_book.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/truth.h"
#include "partwise/models/examples.h"

#include <string>
#include <vector>

namespace partwise::explaining {

// What may be outlined as a filter's region on an image.
enum class RegionKind {
  disc,               // at the unit's centre
  enlarged_map,       // where the enlarged map exceeds a share of its peak
  energy,             // evidence::evidence_map, kOutlinedShare of it
  energy_disc,        // at the centroid of the gradient's energy
  occlusion_field,    // evidence::ReceptiveField at the unit's centre, learnt on training images
  theoretical_field,  // the square the unit can see
};

struct RegionScore {
  RegionKind kind = RegionKind::disc;
  double setting = 0.0;  // radius / side, share of the peak, share of the strength; NaN: nothing to
                         // set. Chosen on training rows where it is a choice
  metrics::Finding
      iou;  // control "other_images": the same regions over other images of the category
};

// Regions of the filters that bear a part's name against that part.
struct RegionScores {
  std::string part;  // "": all named filters
  int64_t filters = 0;
  int64_t pairs = 0;  // of a filter and one of its rows
  std::vector<RegionScore> kinds;
};

struct RegionOptions {
  int64_t images = 4;   // per filter: the rows of its category that show the part and that it fires
                        // on most
  bool fields = false;  // also occlusion fields, which take minutes
  uint64_t seed = 1;
};

// Over all named filters of the last tapped layer, and over those named "head" where there are any.
std::vector<RegionScores> score_regions(const judging::TrainedRun& trained,
                                        const LayerParts& layer,
                                        const models::Examples& held_out,
                                        const metrics::Truth& train_truth,
                                        const metrics::Truth& held_out_truth,
                                        const models::Resources& resources,
                                        const RegionOptions& options,
                                        const metrics::BootstrapOptions& bootstrap);

double overlap_of(const metrics::PixelSet& a,
                  const metrics::PixelSet& b);  // IoU; 0 for two empty ones

}  // namespace partwise::explaining

template <>
inline constexpr auto partwise::kWords<partwise::explaining::RegionKind> =
    partwise::words("disc at the unit",
                    "enlarged map",
                    "gradient energy",
                    "disc at the energy",
                    "occlusion field",
                    "theoretical field");
