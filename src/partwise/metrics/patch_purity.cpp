#include "partwise/metrics/patch_purity.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace partwise::metrics {
namespace {

constexpr uint64_t kPatchStream = 0x70757269;

std::string without_side(std::string name) {
  const auto place = name.find("left");
  return place == std::string::npos ? name : name.replace(place, 4, "right");
}

// The landmarks of all categories under their merged names.
struct Landmarks {
  std::vector<std::string> parts;
  std::vector<std::vector<std::vector<Point>>> visible;  // [row][part]: instances
};

Landmarks merged_landmarks(const Truth& truth) {
  Landmarks merged;
  std::vector<std::vector<std::size_t>> part_of(truth.categories.size());  // [category][landmark]
  for (std::size_t category = 0; category < truth.categories.size(); ++category) {
    for (const auto& name : truth.categories[category].landmarks) {
      const auto place = std::find(merged.parts.begin(), merged.parts.end(), without_side(name));
      part_of[category].push_back(place - merged.parts.begin());
      if (place == merged.parts.end()) merged.parts.push_back(without_side(name));
    }
  }
  for (const auto& row : truth.rows) {
    auto& visible = merged.visible.emplace_back(merged.parts.size());
    if (row.category < 0) continue;
    for (std::size_t k = 0; k < row.landmarks.size(); ++k) {
      auto& points = visible[part_of[row.category][k]];
      points.insert(points.end(), row.landmarks[k].begin(), row.landmarks[k].end());
    }
  }
  return merged;
}

// A row's part in a filter's patch.
enum class Sight : uint8_t { hidden, outside, inside };

struct Ranked {
  std::vector<int32_t> rows;  // the strongest peak first
  std::vector<Sight> sights;  // [rows, parts]
};

struct Purest {
  double purity = kNaN;
  double strict = kNaN;
};

Purest purest_part(const Ranked& ranked,
                   std::size_t parts,
                   int64_t top_images,
                   std::span<const int32_t> row_counts) {
  std::vector<double> hits(parts);
  std::vector<double> shown(parts);
  int64_t left = top_images;
  for (std::size_t i = 0; i < ranked.rows.size() && left > 0; ++i) {
    const int64_t draws = std::min<int64_t>(left, row_counts[ranked.rows[i]]);
    left -= draws;
    for (std::size_t k = 0; k < parts; ++k) {
      const Sight sight = ranked.sights[i * parts + k];
      hits[k] += sight == Sight::inside ? static_cast<double>(draws) : 0.0;
      shown[k] += sight == Sight::hidden ? 0.0 : static_cast<double>(draws);
    }
  }
  Purest best;
  for (std::size_t k = 0; k < parts; ++k)
    best.purity = std::fmax(best.purity, quotient(hits[k], shown[k]));
  if (std::isnan(best.purity)) return best;
  best.strict =
      *std::max_element(hits.begin(), hits.end()) / static_cast<double>(top_images - left);
  return best;
}

// What each of the ranked rows shows of the landmarks of `shown_row` about `centre`.
template <typename ShownRow, typename Centre>
Ranked ranked_sights(const MapSummaries& maps,
                     const Landmarks& landmarks,
                     int64_t filter,
                     double half,
                     const ShownRow& shown_row,
                     const Centre& centre) {
  std::vector<int64_t> rows(static_cast<std::size_t>(maps.rows));
  std::iota(rows.begin(), rows.end(), 0);
  Ranked ranked{by_strength(maps.peaks_of(filter), rows), {}};
  for (const int32_t row : ranked.rows) {
    for (const auto& points : landmarks.visible[shown_row(row)]) {
      ranked.sights.push_back(points.empty()                         ? Sight::hidden
                              : box_holds(centre(row), half, points) ? Sight::inside
                                                                     : Sight::outside);
    }
  }
  return ranked;
}

double population_deviation(std::span<const double> values) {
  ExistingMean mean;
  for (const double value : values) mean.add(value);
  ExistingMean squares;
  for (const double value : values) squares.add((value - mean.value()) * (value - mean.value()));
  return std::sqrt(squares.value());
}

}  // namespace

PatchPurity patch_purity(const MapSummaries& maps,
                         const UnitGrid& grid,
                         const Truth& truth,
                         const PatchPurityOptions& options,
                         const BootstrapOptions& bootstrap) {
  expect_consistent(maps);
  expect_matching(maps.rows, grid, truth);
  validate(options);
  const auto landmarks = merged_landmarks(truth);
  const std::size_t parts = landmarks.parts.size();
  const double half = options.box * static_cast<double>(truth.input_side) / 2.0;
  const auto patch = [&](int64_t filter, int64_t row) {
    return pushed_inside(peak_centre(maps, grid, filter, row), half, truth.input_side);
  };
  std::vector<Ranked> ranked(static_cast<std::size_t>(maps.filters));
  std::vector<Purest> shuffled(ranked.size());
  std::vector<Purest> centred(ranked.size());
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  parallel_for(maps.filters, static_cast<int>(bootstrap.threads), [&](int64_t f) {
    const auto same = [](int64_t row) { return row; };
    const auto other = other_rows(truth, control_random(bootstrap, kPatchStream, f));
    const auto own_patch = [&](int64_t row) { return patch(f, row); };
    ranked[f] = ranked_sights(maps, landmarks, f, half, same, own_patch);
    shuffled[f] = purest_part(
        ranked_sights(
            maps, landmarks, f, half, [&](int64_t row) { return other[row]; }, own_patch),
        parts, options.top_images, once);
    centred[f] =
        purest_part(ranked_sights(maps, landmarks, f, half, same,
                                  [&](int64_t) { return picture_centre(truth.input_side); }),
                    parts, options.top_images, once);
  });
  auto means = means_over_filters(2, maps.rows, maps.filters, bootstrap,
                                  [&](std::span<const int32_t> row_counts) -> FillNumbers {
                                    return [&, row_counts](int64_t f, std::span<double> numbers) {
                                      const auto one = purest_part(ranked[f], parts,
                                                                   options.top_images, row_counts);
                                      numbers[0] = one.purity;
                                      numbers[1] = one.strict;
                                    };
                                  });
  const auto hold_against = [&](Finding& finding, double Purest::*member) {
    const auto control = [&](const std::vector<Purest>& of) {
      return mean_control(maps.filters, bootstrap, [&](int64_t f) { return of[f].*member; });
    };
    finding.controls = {{"shuffled_images", control(shuffled)},
                        {"constant_centre", control(centred)}};
  };
  PatchPurity result{std::move(means[0]), std::move(means[1])};
  hold_against(result.purity.finding, &Purest::purity);
  hold_against(result.strict.finding, &Purest::strict);
  ExistingMean related;
  for (const double purity : result.purity.by_filter)
    related.add(purity > 0.5 ? 1.0 : std::isnan(purity) ? kNaN : 0.0);
  result.purity.finding.facts = {{"deviation", population_deviation(result.purity.by_filter)},
                                 {"part_related", related.value()}};
  return result;
}

}  // namespace partwise::metrics
