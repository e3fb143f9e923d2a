#include "partwise/datasets/synthetic_animals.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/datasets/dataset_lock.h"
#include "partwise/images/codec.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto kGenerator = "synthetic-animals";

// Counts up whenever the same options would draw other pixels.
constexpr int64_t kGeneratorVersion = 1;

// Images of kind k (the last kind: negatives) are numbered k * images .. (k + 1) * images - 1.
SceneKey scene_number(int64_t number, const SyntheticOptions& options) {
  const int64_t kind = number / options.images;
  return {kind < options.categories ? kind : -1, number % options.images, options.size,
          options.seed};
}

std::string file_name_of(int64_t number, const SyntheticOptions& options) {
  const auto key = scene_number(number, options);
  const std::string name = key.category >= 0
                               ? synthetic_categories()[static_cast<std::size_t>(key.category)].name
                               : "negative";
  return fmt::format("images/{}-{:05}.png", name, key.index);
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
  const Heeding heeding;
  Progress progress("drawing animals", total, "images");
  parallel_for(total, threads, [&](int64_t number) {
    if (interrupt_requested()) {
      throw Interrupted(fmt::format("{}: interrupted; run again to complete it", folder.string()));
    }
    const auto key = scene_number(number, options);
    auto scene = draw_scene(key);
    write_if_new(folder / file_name_of(number, options), images::encode_png(scene.image));
    if (key.category >= 0) {
      scene.annotation.id = scene.annotation.image_id = number + 1;
      scene.annotation.category_id =
          synthetic_categories()[static_cast<std::size_t>(key.category)].id;
      annotations[static_cast<std::size_t>(number)] = std::move(scene.annotation);
    }
    progress.advance();
  });
  return annotations;
}

}  // namespace

SceneKey scene_of_image(const PartDataset& dataset, int64_t image_index) {
  const auto place = dataset.root.string();
  const auto said = [&](const char* key) {
    return dataset.info.contains(key) ? dataset.info[key] : json();
  };
  ensure(
      said("generator") == kGenerator && said("generator_version") == kGeneratorVersion,
      "{}: its scenes cannot be drawn again: its generator is {}, version {}, this program draws "
      "'{}', version {}; make a dataset with 'partwise data synth'",
      place, said("generator").dump(), said("generator_version").dump(), kGenerator,
      kGeneratorVersion);
  SyntheticOptions options;
  merge_json(options, said("options"), place + "/dataset.json: info: options");
  const auto& image = dataset.images.at(static_cast<std::size_t>(image_index));
  const int64_t number = image.id - 1;
  ensure(number >= 0 && number < options.images * (options.categories + 1) &&
             image.file_name == file_name_of(number, options),
         "{}: image {} ({}) is none that its options draw; make the dataset anew with "
         "'partwise data synth'",
         place, image.id, image.file_name);
  return scene_number(number, options);
}

PartDataset write_synthetic_animals(const fs::path& folder,
                                    const SyntheticOptions& options,
                                    int threads) {
  validate(options);
  const json wanted{{"generator", kGenerator},
                    {"generator_version", kGeneratorVersion},
                    {"options", partwise::to_json(options)}};
  const DatasetLock alone(folder);
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
