#include "partwise/explaining/figures/drawn_run.h"

#include "partwise/base/error.h"
#include "partwise/base/random.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/explaining/part_book.h"
#include "partwise/explaining/people_names.h"
#include "partwise/judging/filter_cards.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace partwise::explaining {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kFilterStream = 0x66696c74;
constexpr uint64_t kImageStream = 0x696d6167;

// What the filters of a tap stand for: by the run's book of parts; else by the category that was
// measured, the one the layer remembers, or the images to draw from.
std::vector<KnownFilter> known_filters(const DrawnRun& run,
                                       const std::optional<PartBook>& book,
                                       std::size_t tap) {
  std::vector<KnownFilter> known;
  if (book) {
    const auto called = called_names(book->layers[tap], read_people_names(run.run));
    for (std::size_t filter = 0; filter < called.size(); ++filter) {
      const int64_t category = book->layers[tap].filters[filter].category;
      known.push_back({std::max<int64_t>(category, 0), called[filter]});
    }
    return known;
  }
  std::vector<int64_t> category;
  for (const auto rule : {models::CategoryRule::memory, models::CategoryRule::training_rows}) {
    for (const auto& one : run.model.categories) {
      if (one.rule == rule && one.layer == run.tap(tap).name) category = one.category;
    }
  }
  if (category.empty() && !run.summaries.empty())
    category = metrics::strongest_category(
        run.summaries[tap], models::to_vector(run.examples.category), run.task.outputs());
  for (const int64_t one : category) known.push_back({one, ""});
  return known;
}

void look_at(DrawnRun& run,
             const datasets::PartDataset& dataset,
             const std::string& split,
             const models::Resources& resources) {
  run.task = models::task_on(dataset, run.model.design.task);
  run.examples = models::load_examples(dataset, run.task, split, run.model.design.input.side,
                                       resources.threads, resources.cache);
  for (const auto& sample : run.examples.samples) {
    const auto& image = dataset.images[static_cast<std::size_t>(sample.image_index)];
    run.image_name.push_back(fs::path(image.file_name).stem().string());
    run.image_id.push_back(image.id);
  }
}

void label_runs(std::vector<DrawnRun>& runs) {
  std::multiset<std::string> arms;
  for (const auto& run : runs) arms.insert(word_of(run.model.design.arm));
  for (auto& run : runs) {
    run.label = word_of(run.model.design.arm);
    if (arms.count(run.label) < 2) continue;
    const auto folder = fs::absolute(run.run.path()).lexically_normal();
    const auto name =
        folder.filename().empty() ? folder.parent_path().filename() : folder.filename();
    run.label += " · " + name.string();
  }
}

std::vector<std::string> split_at_commas(const std::string& words) {
  std::vector<std::string> parts;
  std::size_t first = 0;
  while (first <= words.size()) {
    const auto end = std::min(words.find(',', first), words.size());
    if (end > first) parts.push_back(words.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

std::vector<std::size_t> taps_to_choose(const DrawnRun& run, bool masked) {
  std::vector<std::size_t> taps;
  for (std::size_t tap = 0; tap < run.network().architecture().taps.size(); ++tap) {
    if (!masked || run.tap(tap).interpretable >= 0) taps.push_back(tap);
  }
  return taps;
}

std::size_t chosen_tap(const DrawnRun& run,
                       const FigureOptions& options,
                       DefaultLayer standard,
                       bool masked) {
  const auto taps = taps_to_choose(run, masked);
  ensure(!taps.empty(), "{}: the arm {} has no mask; draw a run of the arm masked or interpretable",
         run.path_text, word_of(run.model.design.arm));
  if (options.layer.empty()) return standard == DefaultLayer::first ? taps.front() : taps.back();
  std::vector<std::string> names;
  for (const std::size_t tap : taps) names.push_back(run.tap(tap).name);
  return taps[index_of_name(masked ? "layer with a mask" : "layer", options.layer, names)];
}

}  // namespace

std::vector<DrawnRun> open_drawn_runs(const std::vector<std::string>& folders,
                                      const datasets::PartDataset* dataset,
                                      const std::string& checkpoint,
                                      const FigureOptions& options,
                                      Needs needs,
                                      const models::Resources& resources) {
  std::vector<DrawnRun> drawn;
  for (const auto& folder : folders) {
    auto run = runs::RunFolder::open(folder);
    auto model = models::open_model(run, checkpoint, dataset ? dataset->root : fs::path());
    model.network.to_device(resources.device);
    auto task = model.design.task;
    const auto book = read_part_book(run, model);
    auto& one = drawn.emplace_back(DrawnRun{.run = std::move(run),
                                            .label = {},
                                            .model = std::move(model),
                                            .task = std::move(task),
                                            .examples = {},
                                            .image_name = {},
                                            .image_id = {},
                                            .summaries = {},
                                            .filters = {},
                                            .checkpoint = checkpoint,
                                            .device = resources.device,
                                            .path_text = folder});
    if (needs != Needs::nothing) look_at(one, *dataset, options.split, resources);
    if (needs == Needs::maps)
      one.summaries = models::collect_summaries(one.network(), one.examples, resources.device,
                                                resources.threads);
    for (std::size_t tap = 0; tap < one.network().architecture().taps.size(); ++tap)
      one.filters.push_back(known_filters(one, book, tap));
  }
  label_runs(drawn);
  return drawn;
}

std::size_t layer_to_draw(const DrawnRun& run,
                          const FigureOptions& options,
                          DefaultLayer standard) {
  return chosen_tap(run, options, standard, false);
}

std::size_t masked_layer_to_draw(const DrawnRun& run,
                                 const FigureOptions& options,
                                 DefaultLayer standard) {
  return chosen_tap(run, options, standard, true);
}

std::optional<int64_t> asked_category(const DrawnRun& run, const FigureOptions& options) {
  if (options.category.empty()) return std::nullopt;
  return static_cast<int64_t>(index_of_name("category", options.category, run.task.categories));
}

std::vector<int64_t> rows_by_strength(const DrawnRun& run, std::size_t tap, int64_t filter) {
  const int64_t category = run.filters[tap][static_cast<std::size_t>(filter)].category;
  const auto shown = models::to_vector(run.examples.category);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < run.rows(); ++row) {
    if (shown[static_cast<std::size_t>(row)] == category) rows.push_back(row);
  }
  const auto order = metrics::by_strength(run.summaries[tap].peaks_of(filter), rows);
  return {order.begin(), order.end()};
}

std::vector<std::size_t> evenly_spaced_ranks(std::size_t all, std::size_t count) {
  std::vector<std::size_t> ranks;
  count = std::min(all, count);
  for (std::size_t i = 0; i < count; ++i)
    ranks.push_back(count == 1 ? 0 : i * (all - 1) / (count - 1));
  return ranks;
}

std::vector<int64_t> filters_in_drawn_order(const DrawnRun& run,
                                            std::size_t tap,
                                            std::optional<int64_t> category,
                                            int64_t seed) {
  const auto shown = models::to_vector(run.examples.category);
  std::vector<int64_t> filters;
  for (int64_t filter = 0; filter < run.summaries[tap].filters; ++filter) {
    const int64_t own = run.filters[tap][static_cast<std::size_t>(filter)].category;
    if (category && own != *category) continue;
    const auto peaks = run.summaries[tap].peaks_of(filter);
    int64_t images = 0;
    int64_t fires = 0;
    for (std::size_t row = 0; row < shown.size(); ++row) {
      if (shown[row] != own) continue;
      ++images;
      fires += peaks[row] > 0.0F ? 1 : 0;
    }
    if (images > 0 && 2 * fires >= images) filters.push_back(filter);
  }
  Random random(derive_seed({static_cast<uint64_t>(seed), kFilterStream, tap}));
  shuffle(filters, random);
  return filters;
}

std::vector<int64_t> filters_to_draw(const DrawnRun& run,
                                     std::size_t tap,
                                     std::optional<int64_t> category,
                                     const FigureOptions& options,
                                     int64_t count) {
  if (options.filter >= 0) {
    ensure(options.filter < run.summaries[tap].filters,
           "{}: no filter {} in layer {}; it has filters 0 to {}", run.path_text, options.filter,
           run.tap(tap).name, run.summaries[tap].filters - 1);
    return {options.filter};
  }
  auto filters = filters_in_drawn_order(run, tap, category, options.seed);
  ensure(!filters.empty(),
         "{}: no filter of layer {} fires on every second image of its category{}; choose "
         "another --layer or --category",
         run.path_text, run.tap(tap).name, category ? " " + options.category : "");
  filters.resize(std::min(filters.size(), static_cast<std::size_t>(count)));
  return filters;
}

std::vector<int64_t> asked_rows(const DrawnRun& run, const FigureOptions& options) {
  std::vector<int64_t> rows;
  for (const auto& wanted : split_at_commas(options.image)) {
    const auto stem = fs::path(wanted).stem().string();
    int64_t found = -1;
    for (int64_t row = run.rows() - 1; row >= 0; --row) {
      const auto at = static_cast<std::size_t>(row);
      if (std::to_string(run.image_id[at]) == wanted || run.image_name[at] == stem) found = row;
    }
    ensure(found >= 0,
           "{}: no image '{}' among the {} of split {}; give an id or a file name of it",
           run.path_text, wanted, run.rows(), options.split);
    rows.push_back(found);
  }
  return rows;
}

std::vector<int64_t> rows_to_draw(const DrawnRun& run,
                                  std::optional<int64_t> category,
                                  const FigureOptions& options,
                                  int64_t count) {
  if (!options.image.empty()) return asked_rows(run, options);
  const auto shown = models::to_vector(run.examples.category);
  std::vector<std::vector<int64_t>> of(static_cast<std::size_t>(run.task.outputs()));
  for (std::size_t row = 0; row < shown.size(); ++row) {
    if (shown[row] < 0 || (category && shown[row] != *category)) continue;
    of[static_cast<std::size_t>(shown[row])].push_back(static_cast<int64_t>(row));
  }
  for (std::size_t c = 0; c < of.size(); ++c) {
    Random random(derive_seed({static_cast<uint64_t>(options.seed), kImageStream, c}));
    shuffle(of[c], random);
  }
  Random order(derive_seed({static_cast<uint64_t>(options.seed), kImageStream}));
  shuffle(of, order);
  std::vector<int64_t> rows;
  for (std::size_t turn = 0; std::cmp_less(rows.size(), count); ++turn) {
    const auto before = rows.size();
    for (const auto& some : of) {
      if (turn < some.size() && std::cmp_less(rows.size(), count)) rows.push_back(some[turn]);
    }
    if (rows.size() == before) break;
  }
  ensure(!rows.empty(), "{}: split {} shows no object{}", run.path_text, options.split,
         category ? " of category " + options.category : "");
  return rows;
}

int64_t same_row(const DrawnRun& run, int64_t row, const DrawnRun& other) {
  const auto& wanted = run.examples.samples[static_cast<std::size_t>(row)];
  for (std::size_t i = 0; i < other.examples.samples.size(); ++i) {
    const auto& sample = other.examples.samples[i];
    if (sample.image_index == wanted.image_index &&
        sample.annotation_index == wanted.annotation_index)
      return static_cast<int64_t>(i);
  }
  throw Error(
      fmt::format("{}: its task does not ask about image {} that {} is drawn with; choose "
                  "runs of one task or an --image of both",
                  other.path_text, run.image_name[static_cast<std::size_t>(row)], run.path_text));
}

images::Image photo_of(const DrawnRun& run, int64_t row) {
  return judging::image_of_row(run.examples, row);
}

Tensor network_input(const DrawnRun& run, std::span<const int64_t> rows) {
  const auto index = torch::tensor(std::vector<int64_t>(rows.begin(), rows.end()), torch::kInt64);
  return models::normalised(
      run.examples.pixels.index_select(0, index).to(torch::Device(run.device)));
}

const std::string& category_of_row(const DrawnRun& run, int64_t row) {
  static const std::string kNone = "none of them";
  const auto category = run.examples.category[row].item<int64_t>();
  return category < 0 ? kNone : run.task.categories[static_cast<std::size_t>(category)];
}

std::string stands_for(const DrawnRun& run, std::size_t tap, int64_t filter) {
  const auto& known = run.filters[tap][static_cast<std::size_t>(filter)];
  const auto& category = run.task.categories[static_cast<std::size_t>(known.category)];
  return known.name.empty() ? category : category + ": " + known.name;
}

std::vector<std::vector<float>> evidence_on(const DrawnRun& run,
                                            std::size_t tap,
                                            int64_t filter,
                                            std::span<const int64_t> rows) {
  const evidence::PeakGradients peaks(run.network(), network_input(run, rows), tap);
  const auto energy = peaks.energy_of(std::vector<int64_t>(rows.size(), filter));
  std::vector<std::vector<float>> maps;
  for (int64_t i = 0; i < std::ssize(rows); ++i) maps.push_back(evidence::evidence_map(energy[i]));
  return maps;
}

std::string counted(int64_t count, const std::string& one, const std::string& several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string images_drawn(int64_t count, const FigureOptions& options) {
  return fmt::format(
      "{} of split {}, {}", counted(count, "image", "images"), options.split,
      options.image.empty()
          ? fmt::format("drawn at random (seed {}), the categories in turn", options.seed)
          : "asked for");
}

}  // namespace partwise::explaining
