#include "partwise/models/row_truth.h"

#include "partwise/base/error.h"

#include <algorithm>

namespace partwise::models {
namespace {

metrics::PixelSet pixel_set(const datasets::PartRegion& region, const Box& crop, int64_t side) {
  metrics::PixelSet set(side);
  if (region.segmentation) {
    const auto pixels = datasets::crop_mask(*region.segmentation, crop, side);
    for (int64_t y = 0; y < side; ++y) {
      for (int64_t x = 0; x < side; ++x) {
        if (pixels[static_cast<std::size_t>(y * side + x)] != 0) set.insert(x, y);
      }
    }
  } else if (region.bbox) {
    const auto [left, top] =
        datasets::crop_from_image({region.bbox->x, region.bbox->y}, crop, side);
    const auto [right, bottom] = datasets::crop_from_image(
        {region.bbox->x + region.bbox->width, region.bbox->y + region.bbox->height}, crop, side);
    for (int64_t y = 0; y < side; ++y) {
      for (int64_t x = 0; x < side; ++x) {
        const double cx = static_cast<double>(x) + 0.5;
        const double cy = static_cast<double>(y) + 0.5;
        if (left <= cx && cx < right && top <= cy && cy < bottom) set.insert(x, y);
      }
    }
  }
  return set;
}

metrics::RowTruth row_truth(const datasets::Annotation& annotation,
                            const metrics::CategoryTruth& category,
                            int64_t side) {
  metrics::RowTruth row;
  for (const auto& name : category.landmarks) {
    auto& points = row.landmarks.emplace_back();
    const auto found = annotation.landmarks.find(name);
    if (found == annotation.landmarks.end()) continue;
    for (const auto& point : found->second) {
      points.push_back(datasets::crop_from_image(point, annotation.bbox, side));
    }
  }
  for (const auto& name : category.parts) {
    const auto found = annotation.parts.find(name);
    row.parts.push_back(found == annotation.parts.end()
                            ? metrics::PixelSet(side)
                            : pixel_set(found->second, annotation.bbox, side));
  }
  return row;
}

}  // namespace

metrics::Truth truth_of(const datasets::PartDataset& dataset,
                        std::span<const int64_t> category_ids,
                        const std::vector<datasets::Sample>& samples,
                        int64_t side) {
  metrics::Truth truth{side, {}, {}};
  for (const int64_t id : category_ids) {
    const auto found = std::find_if(dataset.categories.begin(), dataset.categories.end(),
                                    [&](const auto& category) { return category.id == id; });
    expects(found != dataset.categories.end(), "category {} left the dataset", id);
    truth.categories.push_back({found->name, found->landmarks, found->parts});
  }
  for (const auto& sample : samples) {
    auto& row = truth.rows.emplace_back();
    if (sample.annotation_index < 0) continue;
    const auto& annotation = dataset.annotations[static_cast<std::size_t>(sample.annotation_index)];
    const auto place = std::find(category_ids.begin(), category_ids.end(), annotation.category_id);
    if (place == category_ids.end()) continue;
    const auto category = place - category_ids.begin();
    row = row_truth(annotation, truth.categories[static_cast<std::size_t>(category)], side);
    row.category = category;
  }
  return truth;
}

}  // namespace partwise::models
