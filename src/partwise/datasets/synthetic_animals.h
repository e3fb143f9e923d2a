#pragma once

#include "partwise/base/options.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/images/image.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace partwise::datasets {

struct SyntheticOptions {
  int64_t images = 240;    // per category; as many negatives as one category has
  int64_t categories = 6;  // the first of synthetic_categories()
  int64_t size = 128;      // side of the square images in pixels
  double test_share = 0.25;
  int64_t seed = 1;

  static auto fields() {
    using Count = Field<SyntheticOptions, int64_t>;
    return std::tuple{
        Count{"images", &SyntheticOptions::images, "images per category", 1, 1'000'000},
        Count{"categories", &SyntheticOptions::categories, "how many kinds of animals", 1, 6},
        Count{"size", &SyntheticOptions::size, "side of the images, px", 32, 1024},
        Field<SyntheticOptions, double>{"test_share", &SyntheticOptions::test_share,
                                        "share of images held out for testing", 0.0, 0.9},
        Count{"seed", &SyntheticOptions::seed, "everything follows from it", 0},
    };
  }
};

// One drawn scene and its exact truth.
struct Scene {
  images::Image image;
  int64_t category = -1;  // index into synthetic_categories(); -1: no object
  Annotation annotation;  // ids unset; empty for a negative
};

// The kinds of animals with their parts and landmarks.
const std::vector<Category>& synthetic_categories();

// Scene number `index` of a category (-1: negative).
struct SceneKey {
  int64_t category = -1;
  int64_t index = 0;
  int64_t size = 0;  // side of the image in pixels
  int64_t seed = 0;
};

// What is changed in a scene while everything else stays equal: pose, colours, light, place,
// shadow, foreground, the object's box.
struct Intervention {
  std::vector<std::string> without;  // parts not painted, nor the marks on them; what lies behind
                                     // them shows
  bool other_background = false;     // another place under the same light

  bool operator==(const Intervention&) const = default;
};

// Depends on its arguments alone. The annotation says what is visible, but for the box: that is the
// unchanged scene's. Shadow and foreground are those of the whole animal, and what is left of it
// looks as it does on the whole animal: only pixels that the parts left out took part in change.
Scene draw_scene(const SceneKey& key, const Intervention& change = {});
Scene draw_scene(
    int64_t category, int64_t index, int64_t size, int64_t seed, const Intervention& change = {});

// The scene that images[image_index] of a dataset shows. An Error where the dataset was not drawn
// by this version of the generator.
SceneKey scene_of_image(const PartDataset& dataset, int64_t image_index);

// Writes images/ and dataset.json under `folder`, drawing on `threads` threads (0: all cores); the
// same options give the same bytes whatever the thread count. A folder that already holds exactly
// this dataset is left as it is; an interrupted one is completed; a non-empty folder that is
// something else is refused.
PartDataset write_synthetic_animals(const std::filesystem::path& folder,
                                    const SyntheticOptions& options,
                                    int threads);

}  // namespace partwise::datasets
