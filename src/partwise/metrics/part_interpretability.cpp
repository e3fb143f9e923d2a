#include "partwise/metrics/part_interpretability.h"

#include "partwise/metrics/filter_mean.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace partwise::metrics {
namespace {

constexpr uint64_t kInterpretabilityStream = 0x70617274;

struct Detections {
  FilterInterpretability filter;
  double shuffled = kNaN;
  double centre = kNaN;                    // with shapes
  std::vector<std::vector<int64_t>> hits;  // [part]: the rows in which it was detected
};

// P_k: the share of the rows showing a part in which it is detected.
std::vector<double> shares_detected(const Overlaps& overlaps, const Gallery& gallery, double iou) {
  std::vector<double> shares;
  shares.reserve(overlaps.size());
  for (std::size_t k = 0; k < overlaps.size(); ++k) {
    const auto hits = std::count_if(overlaps[k].begin(), overlaps[k].end(),
                                    [&](double overlap) { return overlap > iou; });
    shares.push_back(
        quotient(static_cast<double>(hits), static_cast<double>(gallery.shown[k].size())));
  }
  return shares;
}

Detections detect(const FilterOverlap& overlap,
                  const Gallery& gallery,
                  int64_t category,
                  double iou) {
  Detections found;
  found.hits.resize(overlap.own.size());
  for (std::size_t k = 0; k < overlap.own.size(); ++k) {
    for (std::size_t place = 0; place < gallery.rows.size(); ++place) {
      if (overlap.own[k][place] > iou) found.hits[k].push_back(gallery.rows[place]);
    }
  }
  found.filter.category = category;
  found.filter.threshold = static_cast<double>(overlap.threshold);
  found.filter.empty_share =
      quotient(static_cast<double>(overlap.silent_rows), static_cast<double>(gallery.rows.size()));
  found.filter.by_part = shares_detected(overlap.own, gallery, iou);
  found.shuffled = largest_existing(shares_detected(overlap.shuffled, gallery, iou));
  if (!overlap.centre.empty())
    found.centre = largest_existing(shares_detected(overlap.centre, gallery, iou));
  found.filter.interpretability = largest_existing(found.filter.by_part);
  found.filter.best_part = place_of_largest(found.filter.by_part);
  return found;
}

// A filter without a category is laid against all of them.
std::vector<OverlapQuestion> questions_for(std::span<const int64_t> filter_category,
                                           const Truth& truth) {
  std::vector<OverlapQuestion> questions;
  for (int64_t filter = 0; filter < std::ssize(filter_category); ++filter) {
    if (filter_category[filter] >= 0) {
      questions.push_back({filter, filter_category[filter]});
      continue;
    }
    for (int64_t category = 0; category < std::ssize(truth.categories); ++category)
      questions.push_back({filter, category});
  }
  return questions;
}

double resampled_interpretability(const Detections& found,
                                  const std::vector<std::vector<double>>& shown,
                                  std::span<const int32_t> row_counts) {
  double largest = kNaN;
  if (found.filter.category < 0) return largest;
  const auto& of_category = shown[found.filter.category];
  for (std::size_t k = 0; k < of_category.size(); ++k)
    largest = std::fmax(largest, quotient(draws_among(found.hits[k], row_counts), of_category[k]));
  return largest;
}

}  // namespace

PartInterpretability part_interpretability(const MapSource& maps,
                                           const UnitGrid& grid,
                                           const Truth& truth,
                                           std::span<const int64_t> filter_category,
                                           const InterpretabilityOptions& options,
                                           const BootstrapOptions& bootstrap,
                                           const Regions& regions) {
  expect_categories(filter_category, maps.filters, truth);
  const auto questions = questions_for(filter_category, truth);
  const auto overlaps = part_overlaps(maps, grid, truth, questions, options, bootstrap,
                                      kInterpretabilityStream, regions);
  const auto& galleries = overlaps.galleries;
  std::vector<Detections> found(static_cast<std::size_t>(maps.filters));
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto [filter, category] = questions[i];
    auto here = detect(overlaps.filters[i], galleries[category], category, options.iou);
    const double score = here.filter.interpretability;
    const bool better = !std::isnan(score) && !(score <= found[filter].filter.interpretability);
    if (filter_category[filter] >= 0 || better) found[filter] = std::move(here);
  }
  std::vector<double> centred;
  centred.reserve(galleries.size());
  for (std::size_t category = 0; category < galleries.size(); ++category) {
    centred.push_back(largest_existing(
        shares_detected(overlaps.centre[category], galleries[category], options.iou)));
  }
  ExistingMean value;
  ExistingMean silent;
  ExistingMean shuffled;
  ExistingMean centre;
  PartInterpretability result;
  for (const auto& one : found) {
    value.add(one.filter.interpretability);
    silent.add(one.filter.empty_share);
    shuffled.add(one.shuffled);
    const bool placed = one.filter.category >= 0;
    centre.add(!placed ? kNaN : regions.shapes.empty() ? centred[one.filter.category] : one.centre);
    result.filters.push_back(one.filter);
  }
  auto drawn =
      drawn_means(1, maps.rows, maps.filters, bootstrap, [&](std::span<const int32_t> counts) {
        return
            [&, counts, shown = draws_shown(galleries, counts)](int64_t f, std::span<double> here) {
              here[0] = resampled_interpretability(found[f], shown, counts);
            };
      });
  result.finding = finding_within(
      value.value(), centred_interval(value.value(), std::move(drawn.front())), 0.0, 1.0);
  result.finding.controls = {{"shuffled_images", shuffled.value()},
                             {"constant_centre", centre.value()}};
  result.empty_share = silent.value();
  return result;
}

}  // namespace partwise::metrics
