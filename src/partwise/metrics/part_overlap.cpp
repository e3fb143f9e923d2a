#include "partwise/metrics/part_overlap.h"

#include "partwise/base/error.h"
#include "partwise/base/parallel.h"
#include "partwise/metrics/statistics.h"
#include "partwise/metrics/upper_quantile.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace partwise::metrics {
namespace {

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

Overlaps empty_overlaps(const Gallery& gallery) {
  return Overlaps(gallery.shown.size(), std::vector<double>(gallery.rows.size()));
}

double overlap(const Truth& truth,
               const Gallery& gallery,
               std::size_t part,
               std::size_t place,
               const PixelSet& region,
               int64_t region_area) {
  const int64_t part_area = gallery.areas[part][place];
  if (part_area == 0) return kNaN;
  const int64_t both = intersection_area(region, truth.rows[gallery.rows[place]].parts[part]);
  return static_cast<double>(both) / static_cast<double>(region_area + part_area - both);
}

// One region in every row.
Overlaps overlaps_of(const PixelSet& region, const Truth& truth, const Gallery& gallery) {
  auto overlaps = empty_overlaps(gallery);
  for (std::size_t k = 0; k < overlaps.size(); ++k) {
    for (std::size_t place = 0; place < gallery.rows.size(); ++place)
      overlaps[k][place] = overlap(truth, gallery, k, place, region, region.area());
  }
  return overlaps;
}

Point middle_of(const Truth& truth) {
  const double middle = (static_cast<double>(truth.input_side) - 1.0) / 2.0;
  return {middle, middle};
}

Overlaps centre_overlaps(const Truth& truth, const Gallery& gallery, double radius) {
  PixelSet disc(truth.input_side);
  disc.insert_disc(middle_of(truth), radius * static_cast<double>(truth.input_side));
  return overlaps_of(disc, truth, gallery);
}

// What of the shape lies in the picture.
void insert_shape(const RegionShape& shape, Point centre, PixelSet& region) {
  const int64_t side = region.side();
  const int64_t x = std::llround(centre.x);
  for (const auto& [y, first, last] : shape.spans) {
    const int64_t row = std::llround(centre.y) + y;
    const int64_t left = std::max<int64_t>(x + first, 0);
    const int64_t right = std::min(x + last, side - 1);
    if (row >= 0 && row < side && left <= right) region.insert_span(row, left, right);
  }
}

std::vector<PixelSet> unit_discs(const UnitGrid& grid, int64_t side, double radius) {
  std::vector<PixelSet> discs;
  for (int64_t cell = 0; cell < side * side; ++cell) {
    discs.emplace_back(grid.input_side)
        .insert_disc(grid.centre(cell / side, cell % side),
                     radius * static_cast<double>(grid.input_side));
  }
  return discs;
}

// Passes over the source, each question answered on its own thread from the rows of its category:
// visit(question, map, place in the category's rows).
template <typename Visit>
void for_each_map(const MapSource& maps,
                  const Truth& truth,
                  std::span<const OverlapQuestion> questions,
                  std::span<const int64_t> place_of_row,
                  int threads,
                  const Visit& visit) {
  for_each_batch(maps, [&](const Maps& batch, int64_t first_row) {
    parallel_for(std::ssize(questions), threads, [&](int64_t question) {
      const auto& [filter, category] = questions[question];
      for (int64_t row = 0; row < batch.rows; ++row) {
        if (truth.rows[first_row + row].category != category) continue;
        visit(question, batch.map(row, filter), place_of_row[first_row + row]);
      }
    });
  });
}

bool fires_above(std::span<const float> map, float threshold) {
  return std::any_of(map.begin(), map.end(), [&](float value) { return value > threshold; });
}

// Fills `region` with what the units above the threshold stand for; false if there is none.
template <typename Insert>
bool draw_region(std::span<const float> map,
                 float threshold,
                 const Insert& insert,
                 PixelSet& region) {
  region.clear();
  bool any = false;
  for (std::size_t cell = 0; cell < map.size(); ++cell) {
    if (!(map[cell] > threshold)) continue;
    insert(cell, region);
    any = true;
  }
  return any;
}

}  // namespace

std::vector<std::vector<double>> draws_shown(std::span<const Gallery> galleries,
                                             std::span<const int32_t> row_counts) {
  std::vector<std::vector<double>> shown;
  for (const auto& gallery : galleries) {
    auto& of_category = shown.emplace_back();
    for (const auto& rows : gallery.shown) of_category.push_back(draws_among(rows, row_counts));
  }
  return shown;
}

PartOverlaps part_overlaps(const MapSource& maps,
                           const UnitGrid& grid,
                           const Truth& truth,
                           std::span<const OverlapQuestion> questions,
                           const InterpretabilityOptions& options,
                           const BootstrapOptions& bootstrap,
                           uint64_t control_stream,
                           const Regions& regions) {
  expect_matching(maps.rows, grid, truth);
  const auto& shapes = regions.shapes;  // names of their own: clang 14 captures no bindings
  const auto& places = regions.places;
  expects(places.empty() || std::ssize(places) == maps.filters * maps.rows,
          "{} places for {} filters and {} rows", places.size(), maps.filters, maps.rows);
  validate(options);
  const int threads = static_cast<int>(bootstrap.threads);
  PartOverlaps result;
  std::vector<int64_t> place_of_row(truth.rows.size(), -1);
  auto rows = rows_by_category(truth);
  for (std::size_t category = 0; category < rows.size(); ++category) {
    for (std::size_t place = 0; place < rows[category].size(); ++place)
      place_of_row[rows[category][place]] = static_cast<int64_t>(place);
    result.galleries.push_back(
        make_gallery(truth, truth.categories[category], std::move(rows[category])));
    result.centre.push_back(centre_overlaps(truth, result.galleries.back(), options.radius));
  }
  const auto each_map = [&](const auto& visit) {
    for_each_map(maps, truth, questions, place_of_row, threads, visit);
  };

  std::vector<int64_t> units;
  for (const auto& question : questions) {
    units.push_back(std::ssize(result.galleries[question.category].rows) * maps.side * maps.side);
  }
  UpperQuantiles quantiles(units, options.quantile);
  do {
    each_map([&](int64_t question, std::span<const float> map, int64_t) {
      quantiles.add(question, map);
    });
  } while (quantiles.end_pass());

  std::vector<std::vector<std::size_t>> partner;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& gallery = result.galleries[questions[i].category];
    auto random = control_random(bootstrap, control_stream, questions[i].filter);
    partner.push_back(derangement(gallery.rows.size(), random));
    // The quantile of max(x, 0) is max(0, the quantile of x).
    result.filters.push_back({std::max(quantiles.threshold(static_cast<int64_t>(i)), 0.0F),
                              0,
                              empty_overlaps(gallery),
                              empty_overlaps(gallery),
                              {}});
    if (shapes.empty()) continue;
    PixelSet region(truth.input_side);
    insert_shape(shapes[static_cast<std::size_t>(questions[i].filter)], middle_of(truth), region);
    result.filters.back().centre = overlaps_of(region, truth, gallery);
  }
  const auto discs = unit_discs(grid, maps.side, options.radius);
  const double radius = options.radius * static_cast<double>(grid.input_side);
  each_map([&](int64_t question, std::span<const float> map, int64_t place) {
    thread_local PixelSet region;
    if (region.side() != truth.input_side) region = PixelSet(truth.input_side);
    auto& found = result.filters[question];
    const auto& gallery = result.galleries[questions[question].category];
    const int64_t filter = questions[question].filter;
    const auto insert = [&](std::size_t cell, PixelSet& into) {
      if (shapes.empty()) return into.insert_all(discs[cell]);
      const auto at = static_cast<int64_t>(cell);
      insert_shape(shapes[static_cast<std::size_t>(filter)],
                   grid.centre(at / maps.side, at % maps.side), into);
    };
    const bool any = places.empty() ? draw_region(map, found.threshold, insert, region)
                                    : fires_above(map, found.threshold);
    if (!any) ++found.silent_rows;
    if (!places.empty()) {
      region.clear();
      if (any) region.insert_disc(places[filter * maps.rows + gallery.rows[place]], radius);
    }
    const int64_t area = region.area();
    for (std::size_t k = 0; k < gallery.shown.size(); ++k) {
      found.own[k][place] = overlap(truth, gallery, k, place, region, area);
      found.shuffled[k][place] = overlap(truth, gallery, k, partner[question][place], region, area);
    }
  });
  return result;
}

}  // namespace partwise::metrics
