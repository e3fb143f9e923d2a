#include "partwise/judging/filter_cards.h"

#include "partwise/base/random.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/evidence/receptive_field.h"
#include "partwise/tensors/torch.h"
#include "partwise/views/heat_map.h"
#include "partwise/views/spotlight.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace partwise::judging {
namespace {

constexpr int64_t kCardsOfAKind = 4;
constexpr int64_t kExamplesOnACard = 6;
constexpr int64_t kThumbnailGap = 4;

std::vector<int64_t> strongest_rows(std::span<const float> peaks,
                                    std::span<const int64_t> objects,
                                    int64_t category) {
  std::vector<int64_t> inside;
  for (int64_t row = 0; row < std::ssize(objects); ++row) {
    if (objects[static_cast<std::size_t>(row)] == category) inside.push_back(row);
  }
  const auto order = metrics::by_strength(peaks, inside);
  const auto count = std::min<int64_t>(kExamplesOnACard, std::ssize(order));
  return {order.begin(), order.begin() + count};
}

// The cards' maps, in one pass.
void fetch_maps(const metrics::MapSource& maps, std::vector<FilterCard>& cards) {
  for (auto& card : cards) card.maps.resize(card.rows.size());
  metrics::for_each_batch(maps, [&](const metrics::Maps& batch, int64_t first_row) {
    for (auto& card : cards) {
      for (std::size_t i = 0; i < card.rows.size(); ++i) {
        const int64_t row = card.rows[i] - first_row;
        if (row < 0 || row >= batch.rows) continue;
        const auto map = batch.map(row, card.card.filter);
        card.maps[i].assign(map.begin(), map.end());
      }
    }
  });
}

}  // namespace

images::Image image_of_row(const models::Examples& examples, int64_t row) {
  const auto interleaved = examples.pixels[row].permute({1, 2, 0}).contiguous();
  const auto* data = interleaved.data_ptr<uint8_t>();
  return {interleaved.size(1), interleaved.size(0), {data, data + interleaved.numel()}};
}

std::vector<ChosenFilter> choose_filters(std::span<const metrics::FilterInterpretability> filters,
                                         uint64_t seed) {
  const auto value = [&](int64_t f) {
    return filters[static_cast<std::size_t>(f)].interpretability;
  };
  std::vector<int64_t> order(filters.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto undefined = std::stable_partition(order.begin(), order.end(),
                                               [&](int64_t f) { return std::isfinite(value(f)); });
  std::stable_sort(order.begin(), undefined,
                   [&](int64_t a, int64_t b) { return value(a) > value(b); });
  const auto each = std::min<std::size_t>(kCardsOfAKind, order.size() / 3);
  const auto ranked = static_cast<std::size_t>(undefined - order.begin());
  const auto count = std::min(each, ranked / 3);  // of the best, and of the worst
  std::vector<ChosenFilter> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back({order[i], "best"});
  std::vector<int64_t> others(order.begin() + static_cast<std::ptrdiff_t>(count),
                              undefined - static_cast<std::ptrdiff_t>(count));
  others.insert(others.end(), undefined, order.end());
  Random random(seed);
  shuffle(others, random);
  for (std::size_t i = 0; i < 3 * each - 2 * count; ++i) chosen.push_back({others[i], "random"});
  for (std::size_t i = 0; i < count; ++i) chosen.push_back({order[ranked - 1 - i], "worst"});
  return chosen;
}

std::vector<FilterCard> layer_cards(const metrics::LayerMaps& layer,
                                    const metrics::MapSummaries& summaries,
                                    std::span<const int64_t> objects,
                                    const metrics::Truth& truth,
                                    const metrics::LayerMeasures& measures,
                                    uint64_t seed) {
  std::vector<FilterCard> cards;
  for (const auto& [filter, chosen] : choose_filters(measures.interpretability, seed)) {
    const auto& part = measures.interpretability[static_cast<std::size_t>(filter)];
    const auto& place = measures.instability[static_cast<std::size_t>(filter)];
    const auto& category = truth.categories[static_cast<std::size_t>(part.category)];
    const auto peaks = summaries.peaks_of(filter);
    const auto name_of = [&](const metrics::FilterInterpretability& found) -> std::string {
      const bool named = found.best_part >= 0 && found.interpretability > 0.0;
      return named ? category.parts[static_cast<std::size_t>(found.best_part)] : "";
    };
    const bool traced = !measures.at_evidence.empty();
    const auto at_evidence = traced ? measures.at_evidence[static_cast<std::size_t>(filter)]
                                    : metrics::FilterInterpretability{};
    const double sum = std::accumulate(peaks.begin(), peaks.end(), 0.0);
    cards.push_back(
        {{.filter = filter,
          .category = category.name,
          .part = name_of(part),
          .chosen = chosen,
          .part_interpretability = part.interpretability,
          .evidence_part = name_of(at_evidence),
          .evidence_interpretability = at_evidence.interpretability,
          .instability = place.instability,
          .ratio = place.ratio,
          .mean_peak = sum / static_cast<double>(std::max<std::size_t>(peaks.size(), 1)),
          .picture = "",
          .picture_alt = ""},
         strongest_rows(peaks, objects, part.category),
         {}});
  }
  fetch_maps(layer.maps, cards);
  return cards;
}

void add_evidence(const networks::Network& network,
                  std::size_t tap,
                  const models::Examples& objects,
                  const std::string& device,
                  std::vector<FilterCard>& cards) {
  std::vector<evidence::FilterOnRow> pairs;
  std::vector<std::vector<float>*> evidence_of;
  for (auto& card : cards) {
    card.evidence.resize(card.rows.size());
    for (std::size_t i = 0; i < card.rows.size(); ++i) {
      pairs.push_back({card.card.filter, card.rows[i]});
      evidence_of.push_back(&card.evidence[i]);
    }
  }
  evidence::for_each_energy(network, tap, objects, pairs, device,
                            [&](std::size_t i, const Tensor& energy, const Tensor&) {
                              *evidence_of[i] = evidence::evidence_map(energy);
                            });
}

images::Image card_picture(const models::Examples& objects,
                           const metrics::UnitGrid& units,
                           const FilterCard& card) {
  std::vector<images::Image> pictures;
  for (std::size_t i = 0; i < card.rows.size(); ++i) {
    pictures.push_back(image_of_row(objects, card.rows[i]));
    if (card.evidence.empty()) continue;
    const auto& evidence = card.evidence[i];
    pictures.back() = views::spotlit(std::move(pictures.back()), evidence,
                                     evidence::level_holding(evidence, evidence::kOutlinedShare));
  }
  for (std::size_t i = 0; i < card.rows.size(); ++i) {
    const auto& map = card.maps[i];
    const double top = *std::max_element(map.begin(), map.end());
    const views::HeatGrid grid{std::llround(std::sqrt(map.size())), units.offset, units.stride,
                               static_cast<double>(units.input_side)};
    pictures.push_back(views::overlay_map(image_of_row(objects, card.rows[i]), map, grid, top));
  }
  return views::contact_sheet(pictures, static_cast<int64_t>(card.rows.size()), kThumbnailGap);
}

}  // namespace partwise::judging
