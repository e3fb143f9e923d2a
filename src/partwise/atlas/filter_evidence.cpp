#include "partwise/atlas/filter_evidence.h"

#include "partwise/judging/dissection.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/purity.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace partwise::atlas {
namespace {

constexpr std::array<OwnWords, 4> kOwnNumbers{{
    {"peak", "Mean peak", "", false,
     "How strongly the filter fires at its strongest place, mean over the images of its category. "
     "Control: the same over all other images."},
    {"matters", "Matters", "", false,
     "What the score of the decision loses when this filter alone is silenced, mean over images, "
     "in "
     "units of the scores. Below 0: the decision would be surer without it."},
    {"name_rate", "On its part", "higher", true,
     "How often the filter's evidence lies on the part it is named after. Control: the same places "
     "on other images of the category."},
    {"name_control", "On its part by chance", "", true,
     "How often the same places lie on that part on other images of the category."},
}};

// Wilson's interval of a share.
metrics::Finding share_finding(double share, int64_t n) {
  constexpr double kZ = 1.959964;
  const auto count = static_cast<double>(n);
  const double square = kZ * kZ / count;
  const double middle = (share + square / 2.0) / (1.0 + square);
  const double half =
      kZ / (1.0 + square) * std::sqrt(share * (1.0 - share) / count + square / (4.0 * count));
  return {share, std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

metrics::Finding mean_finding(std::span<const double> values,
                              const metrics::BootstrapOptions& bootstrap) {
  return metrics::finding_of_rows(std::ssize(values), bootstrap,
                                  [&](std::span<const int32_t> row_counts) {
                                    metrics::ExistingMean mean;
                                    for (std::size_t i = 0; i < values.size(); ++i)
                                      mean.add(values[i], row_counts[i]);
                                    return mean.value();
                                  });
}

// Its peaks on rows of its category, or on all others.
std::vector<double> peaks_on(const Look& look,
                             std::span<const float> peaks,
                             int64_t category,
                             bool own) {
  std::vector<double> some;
  for (std::size_t row = 0; row < peaks.size(); ++row) {
    if ((category < 0 || look.row_category[row] == category) == own)
      some.push_back(std::max(0.0, static_cast<double>(peaks[row])));
  }
  return some;
}

}  // namespace

std::span<const OwnWords> own_numbers() {
  return kOwnNumbers;
}

std::vector<OwnFinding> filter_evidence(const RunAtlas& atlas,
                                        std::size_t tap,
                                        int64_t filter,
                                        const FilterWords& words,
                                        const AtlasRequest& request,
                                        const metrics::BootstrapOptions& bootstrap) {
  const auto& look = *atlas.look;
  const auto& layer = look.layers[tap];
  const std::vector<int64_t> category{atlas.categories[tap][static_cast<std::size_t>(filter)]};
  const auto own = peaks_on(look, layer.peaks.peaks_of(filter), category.front(), true);
  const auto n = std::ssize(own);
  std::vector<OwnFinding> found;
  if (!look.objects.empty()) {
    const auto masked = one_filter(layer.masked, filter);
    const auto maps = one_filter(layer.maps, filter);
    const auto objects =
        judging::peaks_of_objects(peaks_of_one(layer.peaks, filter), look.row_category);
    auto parts =
        metrics::part_interpretability(metrics::source_of(masked.maps()), layer.masked_grid,
                                       look.truth, category, request.interpretability, bootstrap);
    auto places = metrics::location_instability(objects, layer.grid, look.truth, category,
                                                request.instability, bootstrap);
    // Its control is drawn anew for every filter of a layer, here as if it were the first; the draw
    // of the layer's table is the one that is shown everywhere.
    const double moved =
        layer.numbers[static_cast<std::size_t>(filter)].instability_ratio - places.ratio.value;
    for (auto* number : {&places.ratio.value, &places.ratio.low, &places.ratio.high})
      *number += moved;
    found.push_back({"part_interpretability", std::move(parts.finding), n});
    found.push_back({"instability_ratio", std::move(places.ratio), n});
    found.push_back({"location_instability", std::move(places.instability), n});
    found.push_back(
        {"purity", metrics::purity(metrics::source_of(maps.maps()), bootstrap), maps.rows});
  }
  if (words.rate && words.sightings > 0) {
    auto rate = share_finding(*words.rate, words.sightings);
    if (words.control) rate.controls["other_images"] = *words.control;
    found.push_back({"name_rate", std::move(rate), words.sightings});
  }
  if (!own.empty()) {
    auto peak = mean_finding(own, bootstrap);
    const auto others = peaks_on(look, layer.peaks.peaks_of(filter), category.front(), false);
    if (!others.empty()) {
      metrics::ExistingMean mean;
      for (const double value : others) mean.add(value);
      peak.controls["other_categories"] = mean.value();
    }
    found.push_back({"peak", std::move(peak), n});
  }
  if (!layer.changes.empty()) {
    const auto count = layer.silenced_rows.size();
    const auto first = layer.changes.begin() + static_cast<std::ptrdiff_t>(count) * filter;
    const std::vector<double> lost(first, first + static_cast<std::ptrdiff_t>(count));
    auto matters = mean_finding(lost, bootstrap);
    metrics::ExistingMean everybody;
    for (const auto& numbers : layer.numbers) everybody.add(numbers.matters);
    matters.controls["mean_filter"] = everybody.value();
    found.push_back({"matters", std::move(matters), static_cast<int64_t>(count)});
  }
  return found;
}

}  // namespace partwise::atlas
