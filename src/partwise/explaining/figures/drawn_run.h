#pragma once

#include "partwise/base/options.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/images/image.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/models/activations.h"
#include "partwise/models/examples.h"
#include "partwise/models/model.h"
#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::explaining {

// What of the runs a figure shows. Whatever is not chosen is drawn by the seed, never by eye.
struct FigureOptions {
  std::string category;
  std::string layer;
  int64_t filter = -1;
  std::string image;
  int64_t images = 0;
  int64_t filters = 0;
  std::string split = "test";
  int64_t seed = 1;

  static auto fields() {
    using O = FigureOptions;
    using Count = Field<O, int64_t>;
    return std::tuple{
        Field<O, std::string>{"category", &O::category, "of the images and filters (all)", {}},
        Field<O, std::string>{"layer", &O::layer, "whose filters (the figure's own choice)", {}},
        Count{"filter", &O::filter, "its number; -1: drawn by the seed", -1},
        Field<O, std::string>{"image",
                              &O::image,
                              "ids or file names of images, commas between (drawn by the seed)",
                              {}},
        Count{"images", &O::images, "how many; 0: the figure's own number", 0, 24},
        Count{"filters", &O::filters, "how many per run; 0: the figure's own number", 0, 64},
        Field<O, std::string>{"split", &O::split, "which images to draw from", {}},
        Count{"seed", &O::seed, "what is not chosen is drawn by it", 0},
    };
  }
};

// One filter of a tapped layer: what it stands for.
struct KnownFilter {
  int64_t category = 0;  // index into the task's categories
  std::string name;      // of its part; "": none
};

// What a figure needs besides the networks.
enum class Needs {
  nothing,
  images,
  maps,  // and what the filters did on all of them
};

// A run opened to be drawn, with what the figure needs.
struct DrawnRun {
  runs::RunFolder run;
  std::string label;  // its arm, with the folder's name where two runs share one
  models::Model model;
  models::Task task;  // asked of the dataset
  models::Examples examples;
  std::vector<std::string> image_name;            // [row]: the file without its folder and ending
  std::vector<int64_t> image_id;                  // [row]
  std::vector<metrics::MapSummaries> summaries;   // [tap]: before the mask
  std::vector<std::vector<KnownFilter>> filters;  // [tap][filter]
  std::string checkpoint;
  std::string device;

  const networks::Network& network() const { return model.network; }
  int64_t rows() const { return std::ssize(image_name); }
  const networks::Tap& tap(std::size_t which) const {
    return model.network.architecture().taps.at(which);
  }

  std::string path_text;  // of the run's folder, as the user gave it
};

// Runs on one dataset; it may be nullptr where `needs` is nothing.
std::vector<DrawnRun> open_drawn_runs(const std::vector<std::string>& folders,
                                      const datasets::PartDataset* dataset,
                                      const std::string& checkpoint,
                                      const FigureOptions& options,
                                      Needs needs,
                                      const models::Resources& resources);

// The layer called `options.layer`, an Error that lists the layers where there is none of that
// name; without a name the last tap, or the first one.
enum class DefaultLayer { first, last };
std::size_t layer_to_draw(const DrawnRun& run, const FigureOptions& options, DefaultLayer standard);
// The same among the layers with a mask; an Error with the remedy where there is none.
std::size_t masked_layer_to_draw(const DrawnRun& run,
                                 const FigureOptions& options,
                                 DefaultLayer standard);

// The category asked for; nothing where none was. An Error lists the categories.
std::optional<int64_t> asked_category(const DrawnRun& run, const FigureOptions& options);

// Rows of the filter's category, the strongest peak first; silent ones come last.
std::vector<int64_t> rows_by_strength(const DrawnRun& run, std::size_t tap, int64_t filter);
// `count` of them: the first, the last, and evenly spaced ones between.
std::vector<std::size_t> evenly_spaced_ranks(std::size_t all, std::size_t count);

// Filters that fire on at least every second image of their category (of `category`, where one is
// given), in the order of a draw by the seed.
std::vector<int64_t> filters_in_drawn_order(const DrawnRun& run,
                                            std::size_t tap,
                                            std::optional<int64_t> category,
                                            int64_t seed);
// options.filter, or the first `count` of them; an Error where there are none.
std::vector<int64_t> filters_to_draw(const DrawnRun& run,
                                     std::size_t tap,
                                     std::optional<int64_t> category,
                                     const FigureOptions& options,
                                     int64_t count);

// The rows options.image names; an Error where one is not there.
std::vector<int64_t> asked_rows(const DrawnRun& run, const FigureOptions& options);
// Those, or `count` rows drawn by the seed: of all categories in turn, or of the one given.
std::vector<int64_t> rows_to_draw(const DrawnRun& run,
                                  std::optional<int64_t> category,
                                  const FigureOptions& options,
                                  int64_t count);
// The same image in another run; an Error where that one was not asked about it.
int64_t same_row(const DrawnRun& run, int64_t row, const DrawnRun& other);

images::Image photo_of(const DrawnRun& run, int64_t row);
// [rows, 3, side, side], normalised, on the run's device.
Tensor network_input(const DrawnRun& run, std::span<const int64_t> rows);
const std::string& category_of_row(const DrawnRun& run, int64_t row);

// "fox: head", or "fox" for a filter that stands for no part.
std::string stands_for(const DrawnRun& run, std::size_t tap, int64_t filter);

// The filter's evidence on each of the rows (evidence::evidence_map); empty on a row it is silent
// on.
std::vector<std::vector<float>> evidence_on(const DrawnRun& run,
                                            std::size_t tap,
                                            int64_t filter,
                                            std::span<const int64_t> rows);

// For captions: "1 image", "12 images"; and of what rows_to_draw gave, "12 images of split test,
// drawn at random (seed 1), the categories in turn".
std::string counted(int64_t count, const std::string& one, const std::string& several);
std::string images_drawn(int64_t count, const FigureOptions& options);

}  // namespace partwise::explaining
