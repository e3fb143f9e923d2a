#include "partwise/evidence/peak_places.h"

#include "partwise/base/error.h"
#include "partwise/base/progress.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/metrics/evidence_place.h"
#include "partwise/models/activations.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <map>

namespace partwise::evidence {
namespace {

constexpr int64_t kPlaceBatch = 64;

}  // namespace

std::vector<Point> peak_places(const networks::Network& network,
                               std::size_t tap,
                               const models::Examples& rows,
                               const metrics::MapSummaries& maps,
                               std::span<const int64_t> filter_category,
                               const std::string& device) {
  expects(maps.rows == rows.rows() && maps.filters == std::ssize(filter_category),
          "maps of {} rows and {} filters for {} rows and {} filters", maps.rows, maps.filters,
          rows.rows(), filter_category.size());
  auto places = metrics::unit_centres(maps, models::tapped_layers(network).at(tap).grid);
  std::map<int64_t, std::vector<int64_t>> filters_of;  // by category
  for (int64_t f = 0; f < maps.filters; ++f) filters_of[filter_category[f]].push_back(f);
  std::map<int64_t, std::vector<int64_t>> rows_of;
  const auto category = models::to_vector(rows.category);
  for (int64_t row = 0; row < maps.rows; ++row) rows_of[category[row]].push_back(row);

  Progress progress("tracing the peaks of", maps.filters, "filters");
  for (const auto& [shown, filters] : filters_of) {
    const auto& all = rows_of[shown];
    for (std::size_t first = 0; first < all.size(); first += kPlaceBatch) {
      const std::vector<int64_t> here(all.begin() + first,
                                      all.begin() + std::min(first + kPlaceBatch, all.size()));
      const auto pixels = models::select_rows(rows, here).pixels;
      const PeakGradients peaks(network, models::normalised(pixels.to(torch::Device(device))), tap);
      for (const int64_t f : filters) {
        const auto fires = [&](int64_t row) { return maps.peaks_of(f)[row] > 0.0F; };
        if (std::none_of(here.begin(), here.end(), fires)) continue;
        const auto found = centroids(peaks.energy_of(std::vector<int64_t>(here.size(), f)));
        for (std::size_t i = 0; i < here.size(); ++i) {
          if (found[i] && fires(here[i])) places[f * maps.rows + here[i]] = *found[i];
        }
      }
    }
    progress.advance(std::ssize(filters));
  }
  return places;
}

}  // namespace partwise::evidence
