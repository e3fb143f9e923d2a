#include "partwise/models/examples.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/kernels/gpu_kernels.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/innermost.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <utility>

namespace partwise::models {
namespace {

int64_t category_index(const Task& task, const datasets::PartDataset& dataset, int64_t annotation) {
  if (annotation < 0) return -1;
  const auto id = dataset.annotations[static_cast<std::size_t>(annotation)].category_id;
  const auto found = std::find(task.category_ids.begin(), task.category_ids.end(), id);
  return found == task.category_ids.end() ? -1 : found - task.category_ids.begin();
}

}  // namespace

Rows task_rows(const datasets::PartDataset& dataset, const Task& task, const std::string& split) {
  const auto samples = datasets::samples_of_split(dataset, split, task.uses_negatives());
  const bool object_free = std::any_of(samples.begin(), samples.end(), [](const auto& sample) {
    return sample.annotation_index < 0;
  });
  Rows rows;
  for (const auto& sample : samples) {
    const auto index = category_index(task, dataset, sample.annotation_index);
    const bool other_object = index < 0 && sample.annotation_index >= 0;
    if (other_object && (object_free || !task.binary)) continue;
    rows.samples.push_back(sample);
    rows.category.push_back(index);
  }
  ensure(!rows.samples.empty(), "{}: split '{}' has no image this task asks about",
         dataset.root.string(), split);
  return rows;
}

void require_classes(const datasets::PartDataset& dataset, const Task& task) {
  const auto rows = task_rows(dataset, task, "train");
  const auto shown = rows.category.front();
  const bool several = std::any_of(rows.category.begin(), rows.category.end(),
                                   [&](int64_t category) { return category != shown; });
  const std::string name = shown >= 0 ? task.categories[static_cast<std::size_t>(shown)]
                                      : "images without " + join(task.categories, " or ");
  ensure(several, "{}: the train split shows nothing but {} ({} rows); a task needs two classes",
         dataset.root.string(), name, rows.category.size());
}

Examples load_examples(const datasets::PartDataset& dataset,
                       const Task& task,
                       const std::string& split,
                       int64_t side,
                       int threads,
                       const datasets::CropCache& cache) {
  auto [samples, category] = task_rows(dataset, task, split);
  const auto crops = datasets::load_crops(dataset, samples, {side, threads, cache});
  const auto pixels = torch::from_blob(
      const_cast<uint8_t*>(crops.pixels.data()), {crops.rows, 3, side, side},
      [owner = crops.owner](void*) mutable { owner.reset(); }, torch::kUInt8);
  return {pixels, torch::tensor(category, torch::kInt64), std::move(samples)};
}

Examples select_rows(const Examples& examples, const std::vector<int64_t>& rows) {
  const auto index = torch::tensor(rows, torch::kInt64);
  std::vector<datasets::Sample> samples;
  for (const int64_t row : rows) samples.push_back(examples.samples[static_cast<std::size_t>(row)]);
  return {examples.pixels.index_select(0, index), examples.category.index_select(0, index),
          std::move(samples)};
}

Tensor normalised(const Tensor& pixels) {
  return standardised(pixels.to(torch::kFloat32) / 255.0);
}

Tensor normalised_on_gpu(const Tensor& pixels, bool narrow) {
  using tensors::kInnermost;
  const auto type = narrow ? torch::kBFloat16 : torch::kFloat32;
  const auto factor = [](std::size_t c) { return 1.0 / (255.0 * kPixelSpread[c]); };
  const auto offset = [](std::size_t c) { return -kPixelMean[c] / kPixelSpread[c]; };
  const auto* table = kernels::gpu_kernels(tensors::gpu_of(pixels));
  // As normalised(), but nothing comes from the CPU: steps are recorded.
  if (table == nullptr || pixels.size(0) > kernels::kGpuMostImages) {
    std::vector<Tensor> channels;
    for (std::size_t c = 0; c < 3; ++c) {
      const auto channel = pixels.select(1, static_cast<int64_t>(c)).to(torch::kFloat32);
      channels.push_back(channel.mul(factor(c)).add(offset(c)));
    }
    return torch::stack(channels, 1).to(type).contiguous(kInnermost);
  }
  const auto given = pixels.contiguous();
  const auto result = torch::empty(given.sizes(), given.options().dtype(type), kInnermost);
  kernels::GpuPixels work;
  work.pixels = given.data_ptr<uint8_t>();
  work.normalised = result.data_ptr();
  work.images = given.size(0);
  work.cells = given.size(2) * given.size(3);
  work.narrow = narrow;
  for (std::size_t c = 0; c < 3; ++c) {
    work.factor[c] = static_cast<float>(factor(c));
    work.offset[c] = static_cast<float>(offset(c));
  }
  table->normalise(work, tensors::stream_of(given));
  return result;
}

Tensor standardised(const Tensor& images) {
  const auto channel = [&](const std::vector<double>& values) {
    return torch::tensor(values, torch::kFloat32)
        .to(images.device(), torch::kFloat32, /*non_blocking=*/true)
        .view({3, 1, 1});
  };
  return (images - channel(kPixelMean)) / channel(kPixelSpread);
}

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
