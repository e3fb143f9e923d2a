#pragma once

#include "partwise/findings/run_findings.h"
#include "partwise/images/image.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/models/examples.h"
#include "partwise/networks/network.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace partwise::judging {

// What the network was shown.
images::Image image_of_row(const models::Examples& examples, int64_t row);

struct ChosenFilter {
  int64_t filter = 0;
  std::string chosen;  // "best", "random" or "worst"
};

// Four of each by part interpretability, fewer where there are not twelve: the best, some drawn
// from the rest, the worst (the very worst first), so that nobody has to trust a selection. A
// filter whose category has no named parts is neither the best nor the worst: it can only be drawn.
std::vector<ChosenFilter> choose_filters(std::span<const metrics::FilterInterpretability> filters,
                                         uint64_t seed);

// A filter to show, and the rows of its category on which it fires strongest.
struct FilterCard {
  findings::Card card;  // without its picture
  std::vector<int64_t> rows;
  std::vector<std::vector<float>> maps;           // [of rows]: before the mask
  std::vector<std::vector<float>> evidence = {};  // [of rows]: evidence::evidence_map of the peak
};

// The cards of one layer. objects: what its maps show, [rows] index into truth.categories;
// summaries of those maps.
std::vector<FilterCard> layer_cards(const metrics::LayerMaps& layer,
                                    const metrics::MapSummaries& summaries,
                                    std::span<const int64_t> objects,
                                    const metrics::Truth& truth,
                                    const metrics::LayerMeasures& measures,
                                    uint64_t seed);

// Finds where the peaks on the cards come from (evidence/peak_gradients.h).
void add_evidence(const networks::Network& network,
                  std::size_t tap,
                  const models::Examples& objects,
                  const std::string& device,
                  std::vector<FilterCard>& cards);

// The filter's strongest rows: the crop above, dimmed where its evidence does not lie, the crop
// with the map before the mask below.
images::Image card_picture(const models::Examples& objects,
                           const metrics::UnitGrid& units,
                           const FilterCard& card);

}  // namespace partwise::judging
