#include "partwise/metrics/part_labels.h"

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

nlohmann::json shares_of_filters(const Truth& truth,
                                 std::span<const int64_t> filter_category,
                                 std::span<const int64_t> parts) {
  auto shares = nlohmann::json::object();
  for (int64_t category = 0; category < std::ssize(truth.categories); ++category) {
    const auto& names = truth.categories[category].parts;
    std::vector<double> counts(names.size());
    double labelled = 0.0;
    for (std::size_t f = 0; f < parts.size(); ++f) {
      if (filter_category[f] != category || parts[f] < 0) continue;
      counts[parts[f]] += 1.0;
      labelled += 1.0;
    }
    auto& of_category = shares[truth.categories[category].name] = nlohmann::json::object();
    for (std::size_t k = 0; k < names.size(); ++k)
      of_category[names[k]] = quotient(counts[k], labelled);
  }
  return shares;
}

}  // namespace

PartLabels part_labels(const MapSource& maps,
                       const UnitGrid& grid,
                       const Truth& truth,
                       std::span<const int64_t> filter_category,
                       const InterpretabilityOptions& options,
                       const BootstrapOptions& bootstrap,
                       const Regions& regions) {
  expect_categories(filter_category, maps.filters, truth);
  std::vector<OverlapQuestion> questions;
  for (int64_t f = 0; f < maps.filters; ++f) {
    if (filter_category[f] >= 0) questions.push_back({f, filter_category[f]});
  }
  auto overlaps =
      part_overlaps(maps, grid, truth, questions, options, bootstrap, kLabelStream, regions);
  const auto& galleries = overlaps.galleries;
  std::vector<FilterOverlap> found(static_cast<std::size_t>(maps.filters));
  for (std::size_t i = 0; i < questions.size(); ++i)
    found[questions[i].filter] = std::move(overlaps.filters[i]);
  const auto ranked = [&](const Overlaps& drawn, int64_t f, std::span<const int32_t> row_counts) {
    if (filter_category[f] < 0) return LabelRanking{};
    return rank(mean_overlaps(drawn, galleries[filter_category[f]], row_counts));
  };
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  auto means = means_over_filters(
      2, maps.rows, maps.filters, bootstrap,
      [&](int64_t f, std::span<const int32_t> row_counts, std::span<double> numbers) {
        const auto own = ranked(found[f].own, f, row_counts);
        numbers[0] = own.best;
        numbers[1] = own.margin;
      });
  std::vector<double> centre;
  centre.reserve(galleries.size());
  for (std::size_t category = 0; category < galleries.size(); ++category) {
    centre.push_back(
        rank(mean_overlaps(overlaps.centre[category], galleries[category], once)).best);
  }
  PartLabels result{std::move(means[0]), std::move(means[1]), {}};
  ExistingMean chance;
  ExistingMean chance_margin;
  ExistingMean centred;
  for (int64_t f = 0; f < maps.filters; ++f) {
    const auto shuffled = ranked(found[f].shuffled, f, once);
    chance.add(shuffled.best);
    chance_margin.add(shuffled.margin);
    centred.add(filter_category[f] >= 0 ? centre[filter_category[f]] : kNaN);
    result.parts.push_back(ranked(found[f].own, f, once).part);
  }
  result.iou.finding.controls = {{"shuffled_images", chance.value()},
                                 {"constant_centre", centred.value()}};
  result.iou.finding.facts["share_of_filters"] =
      shares_of_filters(truth, filter_category, result.parts);
  result.margin.finding.controls = {{"shuffled_images", chance_margin.value()}};
  return result;
}

}  // namespace partwise::metrics
