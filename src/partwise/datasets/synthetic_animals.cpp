#include "partwise/datasets/synthetic_animals.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/images/codec.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Counts up whenever the same options would draw other pixels.
constexpr int64_t kGeneratorVersion = 1;

// Images of kind k (the last kind: negatives) are numbered k * images .. (k + 1) * images - 1.
std::string file_name_of(int64_t number, const SyntheticOptions& options) {
  const int64_t kind = number / options.images;
  const std::string name = kind < options.categories
                               ? synthetic_categories()[static_cast<std::size_t>(kind)].name
                               : "negative";
  return fmt::format("images/{}-{:05}.png", name, number % options.images);
}

// The test part of each kind is a random share of it, so that every kind keeps its proportion.
std::map<std::string, std::vector<int64_t>> draw_splits(const SyntheticOptions& options) {
  std::map<std::string, std::vector<int64_t>> splits{{"train", {}}, {"test", {}}};
  const auto held_out = std::llround(static_cast<double>(options.images) * options.test_share);
  for (int64_t kind = 0; kind <= options.categories; ++kind) {
    std::vector<int64_t> ids(static_cast<std::size_t>(options.images));
    std::iota(ids.begin(), ids.end(), kind * options.images + 1);
    Random random(derive_seed(
        {static_cast<uint64_t>(options.seed), 0x73706C6974ULL, static_cast<uint64_t>(kind)}));
    shuffle(ids, random);
    splits["test"].insert(splits["test"].end(), ids.begin(), ids.begin() + held_out);
    splits["train"].insert(splits["train"].end(), ids.begin() + held_out, ids.end());
  }
  for (auto& [name, ids] : splits) std::sort(ids.begin(), ids.end());
  return splits;
}

std::vector<Annotation> write_images(const fs::path& folder,
                                     const SyntheticOptions& options,
                                     int threads) {
  const int64_t total = options.images * (options.categories + 1);
  std::vector<Annotation> annotations(
      static_cast<std::size_t>(options.images * options.categories));
  Progress progress("drawing animals", total, "images");
  parallel_for(total, threads, [&](int64_t number) {
    if (interrupt_requested()) {
      throw Interrupted(fmt::format("{}: interrupted; run again to complete it", folder.string()));
    }
    const int64_t kind = number / options.images;
    const int64_t category = kind < options.categories ? kind : -1;
    auto scene = draw_scene(category, number % options.images, options.size, options.seed);
    write_if_new(folder / file_name_of(number, options), images::encode_png(scene.image));
    if (category >= 0) {
      scene.annotation.id = scene.annotation.image_id = number + 1;
      scene.annotation.category_id = synthetic_categories()[static_cast<std::size_t>(category)].id;
      annotations[static_cast<std::size_t>(number)] = std::move(scene.annotation);
    }
    progress.advance();
  });
  return annotations;
}

}  // namespace

PartDataset write_synthetic_animals(const fs::path& folder,
                                    const SyntheticOptions& options,
                                    int threads) {
  validate(options);
  const json wanted{{"generator", "synthetic-animals"},
                    {"generator_version", kGeneratorVersion},
                    {"options", partwise::to_json(options)}};
  if (auto finished = begin_dataset(folder, wanted)) return *std::move(finished);
  make_writable_folder(folder / "images");
  PartDataset dataset;
  dataset.root = folder;
  dataset.info = wanted;
  const auto& kinds = synthetic_categories();
  dataset.categories.assign(kinds.begin(), kinds.begin() + options.categories);
  for (int64_t number = 0; number < options.images * (options.categories + 1); ++number) {
    dataset.images.push_back(
        {number + 1, file_name_of(number, options), options.size, options.size});
  }
  dataset.splits = draw_splits(options);
  dataset.annotations = write_images(folder, options, threads);
  return finish_dataset(dataset);
}

}  // namespace partwise::datasets
