#include "partwise/metrics/part_labels.h"

#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/matching.h"
#include "partwise/metrics/statistics.h"

#include <utility>

namespace partwise::metrics {
namespace {

constexpr uint64_t kLabelStream = 0x6c616265;

struct LabelRanking {
  int64_t part = -1;
  double best = kNaN;
  double margin = kNaN;
};

LabelRanking rank(std::span<const double> by_part) {
  LabelRanking ranking{place_of_largest(by_part), largest_existing(by_part), kNaN};
  if (ranking.part < 0) return ranking;
  std::vector<double> others(by_part.begin(), by_part.end());
  others.erase(others.begin() + ranking.part);
  ranking.margin = ranking.best - largest_existing(others);
  return ranking;
}

std::vector<double> mean_overlaps(const Overlaps& overlaps,
                                  const Gallery& gallery,
                                  std::span<const int32_t> row_counts) {
  std::vector<double> means;
  means.reserve(overlaps.size());
  for (const auto& of_part : overlaps) {
    ExistingMean mean;
    for (std::size_t place = 0; place < of_part.size(); ++place)
      mean.add(of_part[place], row_counts[gallery.rows[place]]);
    means.push_back(mean.value());
  }
  return means;
}

std::vector<std::vector<double>> shares(const Truth& truth, std::span<const FilterPart> filters) {
  std::vector<std::vector<double>> result;
  for (int64_t category = 0; category < std::ssize(truth.categories); ++category) {
    std::vector<double> counts(truth.categories[category].parts.size());
    double labelled = 0.0;
    for (const auto& filter : filters) {
      if (filter.category != category || filter.part < 0) continue;
      counts[filter.part] += 1.0;
      labelled += 1.0;
    }
    for (auto& count : counts) count = quotient(count, labelled);
    result.push_back(std::move(counts));
  }
  return result;
}

}  // namespace

PartLabels part_labels(const MapSource& maps,
                       const UnitGrid& grid,
                       const Truth& truth,
                       std::span<const int64_t> filter_category,
                       const InterpretabilityOptions& options,
                       const BootstrapOptions& bootstrap) {
  expect_categories(filter_category, maps.filters, truth);
  std::vector<OverlapQuestion> questions;
  for (int64_t f = 0; f < maps.filters; ++f) {
    if (filter_category[f] >= 0) questions.push_back({f, filter_category[f]});
  }
  auto overlaps = part_overlaps(maps, grid, truth, questions, options, bootstrap, kLabelStream);
  const auto& galleries = overlaps.galleries;
  std::vector<FilterOverlap> found(static_cast<std::size_t>(maps.filters));
  for (std::size_t i = 0; i < questions.size(); ++i)
    found[questions[i].filter] = std::move(overlaps.filters[i]);
  const auto ranked = [&](const Overlaps& regions, int64_t f, std::span<const int32_t> row_counts) {
    if (filter_category[f] < 0) return LabelRanking{};
    return rank(mean_overlaps(regions, galleries[filter_category[f]], row_counts));
  };
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  PartLabels result;
  const auto means = means_over_filters(
      2, maps.rows, maps.filters, bootstrap,
      [&](int64_t f, std::span<const int32_t> row_counts, std::span<double> numbers) {
        const auto own = ranked(found[f].own, f, row_counts);
        numbers[0] = own.best;
        numbers[1] = own.margin;
      });
  result.iou = means[0].finding;
  result.margin = means[1].finding;
  std::vector<double> centre;
  centre.reserve(galleries.size());
  for (std::size_t category = 0; category < galleries.size(); ++category) {
    centre.push_back(
        rank(mean_overlaps(overlaps.centre[category], galleries[category], once)).best);
  }
  ExistingMean chance;
  ExistingMean chance_margin;
  ExistingMean centred;
  for (int64_t f = 0; f < maps.filters; ++f) {
    const int64_t category = filter_category[f];
    const auto own = ranked(found[f].own, f, once);
    const auto shuffled = ranked(found[f].shuffled, f, once);
    chance.add(shuffled.best);
    chance_margin.add(shuffled.margin);
    centred.add(category >= 0 ? centre[category] : kNaN);
    result.filters.push_back({category, own.part, own.best, own.margin, shuffled.best, {}});
    if (category >= 0)
      result.filters.back().by_part = mean_overlaps(found[f].own, galleries[category], once);
  }
  result.iou.controls = {{"shuffled_images", chance.value()}, {"constant_centre", centred.value()}};
  result.margin.controls = {{"shuffled_images", chance_margin.value()}};
  result.share = shares(truth, result.filters);
  return result;
}

}  // namespace partwise::metrics
