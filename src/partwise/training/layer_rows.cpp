#include "partwise/training/layer_rows.h"

#include "partwise/base/progress.h"
#include "partwise/interpretable.h"

#include <fmt/format.h>

namespace partwise::training {
namespace {

constexpr double kWorthSaying = 0.9;  // the guard left less than this of the filter loss

}  // namespace

nlohmann::json take_layer_rows(networks::Network& network) {
  auto rows = nlohmann::json::array();
  for (const auto& [name, layer] : network.interpretable()) {
    const auto seen = layer->take_diagnostics();
    const auto short_name = name.substr(0, name.find(".mask"));
    if (seen.softening < kWorthSaying) {
      say(
          fmt::format("{}: its activations were falling; the filter loss went on at {:.0f} % of "
                      "its strength ({:.0f} % of the filters are dead)",
                      short_name, 100.0 * seen.softening, 100.0 * seen.dead_share));
    }
    rows.push_back({{"layer", short_name},
                    {"loss", seen.loss},
                    {"prior_entropy", seen.prior_entropy},
                    {"category_entropy", seen.category_entropy},
                    {"spatial_entropy", seen.spatial_entropy},
                    {"gradient_ratio", seen.gradient_ratio},
                    {"effective_samples", seen.effective_samples},
                    {"softening", seen.softening},
                    {"mean_peak", seen.mean_peak},
                    {"dead_share", seen.dead_share},
                    {"filters_per_category", seen.filters_per_category}});
  }
  return rows;
}

}  // namespace partwise::training
