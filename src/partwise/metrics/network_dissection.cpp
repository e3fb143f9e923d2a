#include "partwise/metrics/network_dissection.h"

#include "partwise/base/parallel.h"
#include "partwise/metrics/enlargement.h"
#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/statistics.h"
#include "partwise/metrics/upper_quantile.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace partwise::metrics {
namespace {

constexpr uint64_t kDissectionStream = 0x64697373;

// Part masks under their names, as the enlarged maps are looked at.
struct Concepts {
  std::vector<std::string> names;
  std::vector<std::vector<PixelSet>> masks;  // [row][concept]; no concepts in rows without object
  std::vector<std::vector<int32_t>> areas;   // the same
};

Concepts concepts_of(const Truth& truth, const Enlargement& enlargement) {
  Concepts concepts;
  std::vector<std::vector<std::size_t>> concept_of(truth.categories.size());
  for (std::size_t category = 0; category < truth.categories.size(); ++category) {
    for (const auto& name : truth.categories[category].parts) {
      const auto place = std::find(concepts.names.begin(), concepts.names.end(), name);
      concept_of[category].push_back(place - concepts.names.begin());
      if (place == concepts.names.end()) concepts.names.push_back(name);
    }
  }
  for (const auto& row : truth.rows) {
    auto& masks = concepts.masks.emplace_back();
    auto& areas = concepts.areas.emplace_back();
    if (row.category < 0) continue;
    masks.resize(concepts.names.size());
    for (std::size_t k = 0; k < row.parts.size(); ++k)
      masks[concept_of[row.category][k]] = enlargement.sampled(row.parts[k]);
    for (const auto& mask : masks) areas.push_back(static_cast<int32_t>(mask.area()));
  }
  return concepts;
}

std::vector<float> thresholds_of(const MapSource& maps,
                                 const Enlargement& enlargement,
                                 const DissectionOptions& options,
                                 int threads) {
  const bool of_cells = options.quantile_of == QuantileOf::cells;
  const int64_t looked_at = of_cells ? maps.side : enlargement.side();
  const std::vector<int64_t> values(static_cast<std::size_t>(maps.filters),
                                    maps.rows * looked_at * looked_at);
  UpperQuantiles quantiles(values, options.quantile);
  do {
    for_each_batch(maps, [&](const Maps& batch, int64_t) {
      parallel_for(maps.filters, threads, [&](int64_t unit) {
        std::vector<float> enlarged;
        for (int64_t row = 0; row < batch.rows; ++row) {
          const auto map = batch.map(row, unit);
          if (!of_cells) {
            enlarged.clear();
            enlargement.append_from(map, quantiles.needed_from(unit), enlarged);
          }
          quantiles.add(unit, of_cells ? map : enlarged);
        }
      });
    });
  } while (quantiles.end_pass());
  std::vector<float> thresholds;
  thresholds.reserve(static_cast<std::size_t>(maps.filters));
  for (int64_t unit = 0; unit < maps.filters; ++unit)
    thresholds.push_back(quantiles.threshold(unit));
  return thresholds;
}

// NaN where the concept is not shown.
std::vector<double> ious_of(std::span<const int64_t> both,
                            int64_t fired,
                            std::span<const int64_t> shown) {
  std::vector<double> result;
  result.reserve(both.size());
  for (std::size_t k = 0; k < both.size(); ++k) {
    const auto either = static_cast<double>(fired + shown[k] - both[k]);
    result.push_back(shown[k] == 0 ? kNaN : static_cast<double>(both[k]) / either);
  }
  return result;
}

// Rows and how many pixels each has; rows without any are left out.
struct PixelTally {
  std::vector<int32_t> rows;
  std::vector<int32_t> pixels;

  void add(int64_t row, int64_t count) {
    if (count == 0) return;
    rows.push_back(static_cast<int32_t>(row));
    pixels.push_back(static_cast<int32_t>(count));
  }
  // When row r counts row_counts[r] times.
  [[nodiscard]] int64_t sum(std::span<const int32_t> row_counts) const {
    int64_t sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) sum += int64_t{row_counts[rows[i]]} * pixels[i];
    return sum;
  }
};

// Of one unit.
struct UnitTally {
  PixelTally fired;
  std::vector<PixelTally> both;      // [concept]
  std::vector<int64_t> both_others;  // [concept]: with the masks of other rows
};

std::vector<UnitTally> tally_masks(const MapSource& maps,
                                   const Enlargement& enlargement,
                                   const Concepts& concepts,
                                   std::span<const float> thresholds,
                                   std::span<const int64_t> other_row,
                                   int threads) {
  const auto count = concepts.names.size();
  std::vector<UnitTally> tallies(static_cast<std::size_t>(maps.filters),
                                 {{}, std::vector<PixelTally>(count), std::vector<int64_t>(count)});
  for_each_batch(maps, [&](const Maps& batch, int64_t first_row) {
    parallel_for(maps.filters, threads, [&](int64_t unit) {
      PixelSet region(enlargement.side());
      auto& tally = tallies[unit];
      for (int64_t row = first_row; row < first_row + batch.rows; ++row) {
        if (concepts.masks[row].empty()) continue;
        enlargement.paint(batch.map(row - first_row, unit), thresholds[unit], region);
        if (region.empty()) continue;
        tally.fired.add(row, region.area());
        for (std::size_t k = 0; k < count; ++k) {
          tally.both[k].add(row, intersection_area(region, concepts.masks[row][k]));
          tally.both_others[k] += intersection_area(region, concepts.masks[other_row[row]][k]);
        }
      }
    });
  });
  return tallies;
}

std::vector<int64_t> shown_pixels(const Concepts& concepts, std::span<const int32_t> row_counts) {
  std::vector<int64_t> shown(concepts.names.size());
  for (std::size_t row = 0; row < concepts.areas.size(); ++row) {
    for (std::size_t k = 0; k < concepts.areas[row].size(); ++k)
      shown[k] += int64_t{row_counts[row]} * concepts.areas[row][k];
  }
  return shown;
}

// IoU of a unit with every concept when row r counts row_counts[r] times.
std::vector<double> ious(const UnitTally& tally,
                         std::span<const int64_t> shown,
                         std::span<const int32_t> row_counts) {
  std::vector<int64_t> both;
  both.reserve(tally.both.size());
  for (const auto& with_concept : tally.both) both.push_back(with_concept.sum(row_counts));
  return ious_of(both, tally.fired.sum(row_counts), shown);
}

double verdict(double iou, double needed) {
  if (std::isnan(iou)) return kNaN;
  return iou > needed ? 1.0 : 0.0;
}

// Share of detectors, and how many there are of each part.
struct UnitDetections {
  ExistingMean share;
  std::map<int64_t, int64_t> by_part;

  void add(double iou, int64_t part, double needed) {
    share.add(verdict(iou, needed));
    if (iou > needed) ++by_part[part];
  }
};

}  // namespace

NetworkDissection network_dissection(const MapSource& maps,
                                     const UnitGrid& grid,
                                     const Truth& truth,
                                     const DissectionOptions& options,
                                     const BootstrapOptions& bootstrap) {
  expect_matching(maps.rows, grid, truth);
  validate(options);
  const int threads = static_cast<int>(bootstrap.threads);
  const Enlargement enlargement(grid, maps.side, options.step);
  const auto concepts = concepts_of(truth, enlargement);
  const auto thresholds = thresholds_of(maps, enlargement, options, threads);
  const auto other_row = other_rows(truth, control_random(bootstrap, kDissectionStream, 0));
  const auto tallies = tally_masks(maps, enlargement, concepts, thresholds, other_row, threads);

  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  const auto shown = shown_pixels(concepts, once);
  NetworkDissection result;
  UnitDetections detections;
  UnitDetections by_chance;
  for (int64_t unit = 0; unit < maps.filters; ++unit) {
    const auto& tally = tallies[unit];
    const auto own = ious(tally, shown, once);
    const auto with_others = ious_of(tally.both_others, tally.fired.sum(once), shown);
    result.units.push_back({place_of_largest(own), largest_existing(own),
                            static_cast<double>(thresholds[unit]), largest_existing(with_others)});
    const auto& detector = result.units.back();
    detections.add(detector.iou, detector.part, options.iou);
    by_chance.add(detector.chance, place_of_largest(with_others), options.iou);
  }
  auto drawn =
      drawn_means(1, maps.rows, maps.filters, bootstrap, [&](std::span<const int32_t> counts) {
        return [&, counts, pixels = shown_pixels(concepts, counts)](int64_t unit,
                                                                    std::span<double> detects) {
          detects[0] = verdict(largest_existing(ious(tallies[unit], pixels, counts)), options.iou);
        };
      });
  const double share = detections.share.value();
  result.detectors =
      finding_within(share, centred_interval(share, std::move(drawn.front())), 0.0, 1.0);
  result.detectors.controls["shuffled_images"] = by_chance.share.value();
  int64_t count = 0;
  std::map<std::string, int64_t> by_part;
  for (const auto& [part, units] : detections.by_part) {
    count += units;
    by_part[concepts.names[part]] = units;
  }
  result.detectors.facts = {{"count", count},
                            {"unique", detections.by_part.size()},
                            {"chance_unique", by_chance.by_part.size()},
                            {"by_part", by_part}};
  return result;
}

}  // namespace partwise::metrics
