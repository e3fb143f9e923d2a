#include "partwise/metrics/part_overlap.h"

#include "partwise/metrics/derangement.h"
#include "partwise/metrics/statistics.h"
#include "partwise/metrics/upper_quantile.h"

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
  Overlaps overlaps(gallery.shown.size(), std::vector<double>(gallery.rows.size()));
  return overlaps;
}

}  // namespace

PartOverlap::PartOverlap(
    const Maps& maps, const UnitGrid& grid, const Truth& truth, double quantile, double radius)
    : maps_(maps), truth_(truth), quantile_(quantile), radius_(radius) {
  for (int64_t cell = 0; cell < maps.side * maps.side; ++cell) {
    discs_.emplace_back(grid.input_side)
        .insert_disc(grid.centre(cell / maps.side, cell % maps.side),
                     radius * static_cast<double>(grid.input_side));
  }
  auto rows = rows_by_category(truth);
  for (std::size_t category = 0; category < rows.size(); ++category) {
    galleries_.push_back(
        make_gallery(truth, truth.categories[category], std::move(rows[category])));
  }
}

float PartOverlap::threshold(int64_t filter, int64_t category) const {
  const auto& rows = galleries_[category].rows;
  std::vector<float> values;
  values.reserve(rows.size() * static_cast<std::size_t>(maps_.side * maps_.side));
  for (const int64_t row : rows) {
    // T_f is never below 0, and NaN counts for nothing.
    for (const float value : maps_.map(row, filter)) values.push_back(value > 0.0F ? value : 0.0F);
  }
  return upper_quantile(values, quantile_);
}

// Fills `region` with the discs of the units above the threshold; false if there is none.
bool PartOverlap::draw_region(std::span<const float> map, float threshold, PixelSet& region) const {
  region.clear();
  bool any = false;
  for (std::size_t cell = 0; cell < map.size(); ++cell) {
    if (!(map[cell] > threshold)) continue;
    region.insert_all(discs_[cell]);
    any = true;
  }
  return any;
}

double PartOverlap::overlap(const Gallery& gallery,
                            std::size_t part,
                            std::size_t place,
                            const PixelSet& region,
                            int64_t region_area) const {
  const int64_t part_area = gallery.areas[part][place];
  if (part_area == 0) return kNaN;
  const int64_t both = intersection_area(region, truth_.rows[gallery.rows[place]].parts[part]);
  return static_cast<double>(both) / static_cast<double>(region_area + part_area - both);
}

FilterOverlap PartOverlap::of_filter(int64_t filter, int64_t category, Random random) const {
  const auto& gallery = galleries_[category];
  const auto partner = derangement(gallery.rows.size(), random);
  FilterOverlap found{threshold(filter, category), 0, empty_overlaps(gallery),
                      empty_overlaps(gallery)};
  PixelSet region(truth_.input_side);
  for (std::size_t place = 0; place < gallery.rows.size(); ++place) {
    if (!draw_region(maps_.map(gallery.rows[place], filter), found.threshold, region))
      ++found.silent_rows;
    const int64_t area = region.area();
    for (std::size_t k = 0; k < gallery.shown.size(); ++k) {
      found.own[k][place] = overlap(gallery, k, place, region, area);
      found.shuffled[k][place] = overlap(gallery, k, partner[place], region, area);
    }
  }
  return found;
}

Overlaps PartOverlap::of_centre(int64_t category) const {
  const auto& gallery = galleries_[category];
  const auto side = static_cast<double>(truth_.input_side);
  PixelSet disc(truth_.input_side);
  disc.insert_disc({(side - 1.0) / 2.0, (side - 1.0) / 2.0}, radius_ * side);
  auto overlaps = empty_overlaps(gallery);
  for (std::size_t k = 0; k < overlaps.size(); ++k) {
    for (std::size_t place = 0; place < gallery.rows.size(); ++place)
      overlaps[k][place] = overlap(gallery, k, place, disc, disc.area());
  }
  return overlaps;
}

}  // namespace partwise::metrics
