#include "partwise/metrics/part_interpretability.h"

#include "partwise/base/parallel.h"
#include "partwise/base/random.h"
#include "partwise/metrics/matching.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace partwise::metrics {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kControlStream = 0x70617274;

// One category: its rows, and how much of each part they show.
struct Gallery {
  std::vector<int64_t> rows;
  std::vector<std::vector<int64_t>> areas;  // [part][place in rows], pixels
  std::vector<std::vector<int64_t>> shown;  // [part]: the rows that show it
};

struct Scene {
  const Maps& maps;
  const Truth& truth;
  const InterpretabilityOptions& options;
  std::vector<PixelSet> discs;  // [cell]
  std::vector<Gallery> galleries;
};

Gallery make_gallery(const Truth& truth, const CategoryTruth& category, std::vector<int64_t> rows) {
  Gallery gallery;
  gallery.areas.resize(category.parts.size());
  gallery.shown.resize(category.parts.size());
  for (const int64_t row : rows) {
    for (std::size_t k = 0; k < category.parts.size(); ++k) {
      const int64_t area = truth.rows[row].parts[k].area();
      gallery.areas[k].push_back(area);
      if (area > 0) gallery.shown[k].push_back(row);
    }
  }
  gallery.rows = std::move(rows);
  return gallery;
}

Scene make_scene(const Maps& maps,
                 const UnitGrid& grid,
                 const Truth& truth,
                 const InterpretabilityOptions& options) {
  Scene scene{maps, truth, options, {}, {}};
  const double radius = options.radius * static_cast<double>(grid.input_side);
  for (int64_t cell = 0; cell < maps.side * maps.side; ++cell) {
    scene.discs.emplace_back(grid.input_side)
        .insert_disc(grid.centre(cell / maps.side, cell % maps.side), radius);
  }
  auto rows = rows_by_category(truth);
  for (std::size_t category = 0; category < rows.size(); ++category) {
    scene.galleries.push_back(
        make_gallery(truth, truth.categories[category], std::move(rows[category])));
  }
  return scene;
}

float threshold_of(const Maps& maps,
                   const std::vector<int64_t>& rows,
                   int64_t filter,
                   double quantile) {
  std::vector<float> values;
  values.reserve(rows.size() * static_cast<std::size_t>(maps.side * maps.side));
  for (const int64_t row : rows) {
    // T_f is never below 0, and NaN counts for nothing.
    for (const float value : maps.map(row, filter)) values.push_back(value > 0.0F ? value : 0.0F);
  }
  if (values.empty()) return 0.0F;
  // quantile * N may fall a rounding error short of the whole number it stands for.
  const auto above =
      static_cast<int64_t>(std::floor(quantile * static_cast<double>(values.size()) + 1e-9));
  const auto place = values.begin() + above;
  std::nth_element(values.begin(), place, values.end(), std::greater<>());
  return *place;
}

// Fills `region` with the discs of the units above the threshold; false if there is none.
bool draw_region(const Scene& scene,
                 std::span<const float> map,
                 float threshold,
                 PixelSet& region) {
  region.clear();
  bool any = false;
  for (std::size_t cell = 0; cell < map.size(); ++cell) {
    if (!(map[cell] > threshold)) continue;
    region.insert_all(scene.discs[cell]);
    any = true;
  }
  return any;
}

// The parts of the row at `place` that overlap the region enough, one call of `hit(part)` each.
template <typename Hit>
void find_hits(const Scene& scene,
               const Gallery& gallery,
               std::size_t place,
               const PixelSet& region,
               int64_t region_area,
               const Hit& hit) {
  const auto& parts = scene.truth.rows[gallery.rows[place]].parts;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const int64_t part_area = gallery.areas[k][place];
    if (part_area == 0) continue;
    const int64_t both = intersection_area(region, parts[k]);
    const int64_t either = region_area + part_area - both;
    if (static_cast<double>(both) / static_cast<double>(either) > scene.options.iou) hit(k);
  }
}

// A random order in which nobody keeps his place (but for a single row, which must).
std::vector<std::size_t> derangement(std::size_t count, Random& random) {
  std::vector<std::size_t> ring(count);
  for (std::size_t i = 0; i < count; ++i) ring[i] = i;
  shuffle(ring, random);
  std::vector<std::size_t> partner(count);
  for (std::size_t i = 0; i < count; ++i) partner[ring[i]] = ring[(i + 1) % count];
  return partner;
}

struct Detections {
  FilterInterpretability filter;
  double shuffled = kNaN;
  std::vector<std::vector<int64_t>> hits;  // [part]: the rows in which it was detected
};

double largest_existing(std::span<const double> values) {
  double largest = kNaN;
  for (const double value : values) largest = std::fmax(largest, value);  // skips NaN
  return largest;
}

double share(double hits, double shown) {
  return shown > 0.0 ? hits / shown : kNaN;
}

Detections detect(const Scene& scene, int64_t filter, int64_t category, Random random) {
  const auto& gallery = scene.galleries[category];
  const auto partner = derangement(gallery.rows.size(), random);
  const float threshold = threshold_of(scene.maps, gallery.rows, filter, scene.options.quantile);
  Detections found;
  found.hits.resize(gallery.shown.size());
  std::vector<double> shuffled_hits(gallery.shown.size());
  int64_t silent = 0;
  PixelSet region(scene.truth.input_side);
  for (std::size_t place = 0; place < gallery.rows.size(); ++place) {
    const int64_t row = gallery.rows[place];
    if (!draw_region(scene, scene.maps.map(row, filter), threshold, region)) {
      ++silent;
      continue;
    }
    const int64_t area = region.area();
    find_hits(scene, gallery, place, region, area,
              [&](std::size_t k) { found.hits[k].push_back(row); });
    find_hits(scene, gallery, partner[place], region, area,
              [&](std::size_t k) { shuffled_hits[k] += 1.0; });
  }
  found.filter.category = category;
  found.filter.threshold = static_cast<double>(threshold);
  found.filter.silent_share =
      share(static_cast<double>(silent), static_cast<double>(gallery.rows.size()));
  for (std::size_t k = 0; k < found.hits.size(); ++k) {
    const auto shown = static_cast<double>(gallery.shown[k].size());
    found.filter.by_part.push_back(share(static_cast<double>(found.hits[k].size()), shown));
    shuffled_hits[k] = share(shuffled_hits[k], shown);
  }
  found.shuffled = largest_existing(shuffled_hits);
  found.filter.interpretability = largest_existing(found.filter.by_part);
  const auto& by_part = found.filter.by_part;
  const auto best = std::find(by_part.begin(), by_part.end(), found.filter.interpretability);
  found.filter.best_part = best == by_part.end() ? -1 : best - by_part.begin();
  return found;
}

Detections detect_in_best_category(const Scene& scene, int64_t filter, const Random& random) {
  Detections best;
  best.filter.interpretability = kNaN;
  best.filter.silent_share = kNaN;
  best.filter.threshold = kNaN;
  for (int64_t category = 0; category < std::ssize(scene.galleries); ++category) {
    auto found = detect(scene, filter, category, random);
    const double score = found.filter.interpretability;
    if (std::isnan(score) || score <= best.filter.interpretability) continue;
    best = std::move(found);
  }
  return best;
}

// P of one disc at the input's centre in every row of the category.
double centre_interpretability(const Scene& scene, const Gallery& gallery) {
  const auto side = static_cast<double>(scene.truth.input_side);
  PixelSet disc(scene.truth.input_side);
  disc.insert_disc({(side - 1.0) / 2.0, (side - 1.0) / 2.0}, scene.options.radius * side);
  const int64_t area = disc.area();
  std::vector<double> hits(gallery.shown.size());
  for (std::size_t place = 0; place < gallery.rows.size(); ++place)
    find_hits(scene, gallery, place, disc, area, [&](std::size_t k) { hits[k] += 1.0; });
  for (std::size_t k = 0; k < hits.size(); ++k)
    hits[k] = share(hits[k], static_cast<double>(gallery.shown[k].size()));
  return largest_existing(hits);
}

double draws_among(const std::vector<int64_t>& rows, std::span<const int32_t> counts) {
  int64_t draws = 0;
  for (const int64_t row : rows) draws += counts[row];
  return static_cast<double>(draws);
}

double resampled_interpretability(const Scene& scene,
                                  const std::vector<Detections>& found,
                                  const Resample& resample) {
  std::vector<std::vector<double>> shown;
  for (const auto& gallery : scene.galleries) {
    auto& of_category = shown.emplace_back();
    for (const auto& rows : gallery.shown) of_category.push_back(draws_among(rows, resample.rows));
  }
  ExistingMean mean;
  for (std::size_t f = 0; f < found.size(); ++f) {
    if (resample.filters[f] == 0 || found[f].filter.category < 0) continue;
    const auto& of_category = shown[found[f].filter.category];
    double largest = kNaN;
    for (std::size_t k = 0; k < of_category.size(); ++k) {
      const double detected = share(draws_among(found[f].hits[k], resample.rows), of_category[k]);
      largest = std::fmax(largest, detected);
    }
    mean.add(largest, resample.filters[f]);
  }
  return mean.value();
}

}  // namespace

PartInterpretability part_interpretability(const Maps& maps,
                                           const UnitGrid& grid,
                                           const Truth& truth,
                                           std::span<const int64_t> filter_category,
                                           const InterpretabilityOptions& options,
                                           const BootstrapOptions& bootstrap) {
  expect_matching(maps, grid, truth, filter_category);
  validate(options);
  const auto scene = make_scene(maps, grid, truth, options);
  std::vector<Detections> found(static_cast<std::size_t>(maps.filters));
  parallel_for(maps.filters, static_cast<int>(bootstrap.threads), [&](int64_t f) {
    const Random random(derive_seed(
        {static_cast<uint64_t>(bootstrap.seed), kControlStream, static_cast<uint64_t>(f)}));
    found[f] = filter_category[f] >= 0 ? detect(scene, f, filter_category[f], random)
                                       : detect_in_best_category(scene, f, random);
  });
  std::vector<double> centred;
  for (const auto& gallery : scene.galleries)
    centred.push_back(centre_interpretability(scene, gallery));
  ExistingMean value;
  ExistingMean silent;
  ExistingMean shuffled;
  ExistingMean centre;
  PartInterpretability result;
  for (const auto& one : found) {
    value.add(one.filter.interpretability);
    silent.add(one.filter.silent_share);
    shuffled.add(one.shuffled);
    centre.add(one.filter.category >= 0 ? centred[one.filter.category] : kNaN);
    result.filters.push_back(one.filter);
  }
  const auto interval = centred_bootstrap_interval(
      value.value(), maps.rows, maps.filters, bootstrap,
      [&](const Resample& resample) { return resampled_interpretability(scene, found, resample); });
  result.finding = {
      .value = value.value(),
      .low = std::clamp(interval.low, 0.0, 1.0),
      .high = std::clamp(interval.high, 0.0, 1.0),
      .controls = {{"shuffled_images", shuffled.value()}, {"constant_centre", centre.value()}}};
  result.silent_share = silent.value();
  return result;
}

}  // namespace partwise::metrics
