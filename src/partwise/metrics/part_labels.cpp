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

// Most overlaps are zero: those that are not, and their rows.
struct PartHits {
  std::vector<int64_t> rows;
  std::vector<double> overlaps;
};

std::vector<PartHits> hits_of(const Overlaps& overlaps, const Gallery& gallery) {
  std::vector<PartHits> hits(overlaps.size());
  for (std::size_t k = 0; k < overlaps.size(); ++k) {
    for (std::size_t place = 0; place < overlaps[k].size(); ++place) {
      if (!(overlaps[k][place] > 0.0)) continue;
      hits[k].rows.push_back(gallery.rows[place]);
      hits[k].overlaps.push_back(overlaps[k][place]);
    }
  }
  return hits;
}

// [part]: over the rows that show it, `shown` of them.
std::vector<double> mean_overlaps(const std::vector<PartHits>& hits,
                                  std::span<const double> shown,
                                  std::span<const int32_t> row_counts) {
  std::vector<double> means;
  means.reserve(hits.size());
  for (std::size_t k = 0; k < hits.size(); ++k) {
    double sum = 0.0;
    for (std::size_t i = 0; i < hits[k].rows.size(); ++i)
      sum += hits[k].overlaps[i] * row_counts[hits[k].rows[i]];
    means.push_back(quotient(sum, shown[k]));
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
  std::vector<std::vector<PartHits>> own(static_cast<std::size_t>(maps.filters));
  std::vector<std::vector<PartHits>> elsewhere(own.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto [filter, category] = questions[i];
    own[filter] = hits_of(overlaps.filters[i].own, galleries[category]);
    elsewhere[filter] = hits_of(overlaps.filters[i].shuffled, galleries[category]);
  }
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  using Shown = std::vector<std::vector<double>>;  // [category][part]: draws
  const Shown shown_once = draws_shown(galleries, once);
  const auto ranked = [&](const std::vector<std::vector<PartHits>>& hits, int64_t f,
                          const Shown& shown, std::span<const int32_t> row_counts) {
    if (filter_category[f] < 0) return LabelRanking{};
    return rank(mean_overlaps(hits[f], shown[filter_category[f]], row_counts));
  };
  auto means =
      means_over_filters(2, maps.rows, maps.filters, bootstrap,
                         [&](std::span<const int32_t> row_counts) -> FillNumbers {
                           return [&, row_counts, shown = draws_shown(galleries, row_counts)](
                                      int64_t f, std::span<double> numbers) {
                             const auto best = ranked(own, f, shown, row_counts);
                             numbers[0] = best.best;
                             numbers[1] = best.margin;
                           };
                         });
  std::vector<double> centre;
  centre.reserve(galleries.size());
  for (std::size_t category = 0; category < galleries.size(); ++category) {
    const auto hits = hits_of(overlaps.centre[category], galleries[category]);
    centre.push_back(rank(mean_overlaps(hits, shown_once[category], once)).best);
  }
  PartLabels result{std::move(means[0]), std::move(means[1]), {}};
  ExistingMean chance;
  ExistingMean chance_margin;
  ExistingMean centred;
  for (int64_t f = 0; f < maps.filters; ++f) {
    const auto shuffled = ranked(elsewhere, f, shown_once, once);
    chance.add(shuffled.best);
    chance_margin.add(shuffled.margin);
    centred.add(filter_category[f] >= 0 ? centre[filter_category[f]] : kNaN);
    result.parts.push_back(ranked(own, f, shown_once, once).part);
  }
  result.iou.finding.controls = {{"shuffled_images", chance.value()},
                                 {"constant_centre", centred.value()}};
  result.iou.finding.facts["share_of_filters"] =
      shares_of_filters(truth, filter_category, result.parts);
  result.margin.finding.controls = {{"shuffled_images", chance_margin.value()}};
  return result;
}

}  // namespace partwise::metrics
