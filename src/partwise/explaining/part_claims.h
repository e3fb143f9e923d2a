#pragma once

#include "partwise/explaining/attribution_maps.h"
#include "partwise/explaining/faithfulness.h"
#include "partwise/explaining/part_book.h"
#include "partwise/metrics/truth.h"
#include "partwise/models/examples.h"

#include <map>
#include <string>
#include <vector>

namespace partwise::explaining {

// Who says how much each part matters.
enum class Method {
  parts_by_name,         // Shapley values of the filters that bear the part's name
  parts_by_place,        // of single filters, laid where their evidence lies
  silencing_by_name,     // the logit's drop when the filters of that name alone are silenced
  distilled_by_name,     // the filters of that name in the additive explainer's sum
  grad_cam,              // maps, summed inside the part
  occlusion,             //
  input_times_gradient,  //
  by_area,               // controls: the part's visible pixels
  all_equal,             //
  random_shares,         //
  inverse,               // parts_by_name with the sign turned
};

// What is asked of one row.
struct ClaimedRow {
  std::vector<std::string> names;        // of the visible parts
  std::vector<metrics::PixelSet> parts;  // their pixels, of the network's input
  metrics::PixelSet animal;
  int64_t decided = 0;     // output
  int64_t runner_up = -1;  // output; -1: none
};

struct ClaimOptions {
  int64_t orders = 128;  // for the Shapley values of single filters
  int64_t filters = 8;   // parts_by_place lays so many on the image per class, the weightiest
  OcclusionOptions occlusion;
  uint64_t seed = 1;
};

// The claims of every method, [row]. Filters are those of the last tapped layer.
//   pixels [rows, 3, side, side] uint8
std::map<Method, std::vector<Claim>> claims_of_methods(const networks::Network& network,
                                                       const LayerParts& layer,
                                                       const AdditiveExplainer& additive,
                                                       const Tensor& pixels,
                                                       const std::vector<ClaimedRow>& rows,
                                                       const models::Resources& resources,
                                                       const ClaimOptions& options = {});

// A map summed inside each part, and the share of what is positive that lies outside the animal.
//   maps [side * side], row by row; runner_up empty: not asked
Claim claim_of_maps(const ClaimedRow& row,
                    std::span<const float> decided,
                    std::span<const float> runner_up);

}  // namespace partwise::explaining

template <>
inline constexpr auto partwise::kWords<partwise::explaining::Method> =
    partwise::words("parts by name",
                    "parts by place",
                    "silencing by name",
                    "distilled sum by name",
                    "Grad-CAM",
                    "occlusion",
                    "input x gradient",
                    "by area",
                    "all equal",
                    "random shares",
                    "inverse");
