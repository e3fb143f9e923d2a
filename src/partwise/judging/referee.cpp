#include "partwise/judging/referee.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/judging/layer_findings.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/models/examples.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace partwise::judging {
namespace {

constexpr std::string_view kBinary = "binary:";
constexpr auto kAll = "all";

struct Categories {
  std::vector<int64_t> ids;
  std::vector<std::string> names;

  [[nodiscard]] int64_t index_of(int64_t id) const {
    const auto found = std::find(ids.begin(), ids.end(), id);
    return found == ids.end() ? -1 : found - ids.begin();
  }
};

Categories categories_of(const std::string& task, const datasets::PartDataset& dataset) {
  Categories all;
  for (const auto& category : dataset.categories) {
    all.ids.push_back(category.id);
    all.names.push_back(category.name);
  }
  ensure(!all.ids.empty(), "{}: has no categories", dataset.root.string());
  if (task == "multi") return all;
  ensure(task.starts_with(kBinary), "task = '{}' is unknown; valid: multi, binary:CATEGORY", task);
  const auto index = index_of_name("category", task.substr(kBinary.size()), all.names);
  return {{all.ids[index]}, {all.names[index]}};
}

// What the dataset says of a dump's rows.
struct Rows {
  std::vector<datasets::Sample> samples;
  std::vector<int64_t> image;  // ids; -1: not known
};

Rows rows_of(const Dump& dump, const datasets::PartDataset& dataset) {
  std::unordered_map<int64_t, int64_t> index_of_id;
  for (int64_t i = 0; i < std::ssize(dataset.annotations); ++i)
    index_of_id[dataset.annotations[static_cast<std::size_t>(i)].id] = i;
  std::set<int64_t> images;
  for (const auto& image : dataset.images) images.insert(image.id);
  Rows rows;
  for (std::size_t row = 0; row < dump.annotation.size(); ++row) {
    const int64_t id = dump.annotation[row];
    if (id == -1) {
      const int64_t image = dump.image ? (*dump.image)[row] : -1;
      ensure(image == -1 || images.contains(image), "{}: row {} shows image {}, which {} lacks",
             dump.file, row, image, (dataset.root / "dataset.json").string());
      rows.samples.push_back({0, -1});
      rows.image.push_back(image);
      continue;
    }
    const auto found = index_of_id.find(id);
    ensure(found != index_of_id.end(),
           "{}: row {} shows annotation {}, which {} lacks; was it made from other data?",
           dump.file, row, id, (dataset.root / "dataset.json").string());
    rows.samples.push_back({0, found->second});
    rows.image.push_back(dataset.annotations[static_cast<std::size_t>(found->second)].image_id);
  }
  return rows;
}

std::set<int64_t> images_of_split(const datasets::PartDataset& dataset, const std::string& split) {
  const auto found = dataset.splits.find(split);
  if (found == dataset.splits.end()) return {};
  return {found->second.begin(), found->second.end()};
}

// The rows whose image lies in the split; rows of unknown images count as `unknown` says.
std::vector<int64_t> rows_in_split(const Rows& rows,
                                   const datasets::PartDataset& dataset,
                                   const std::string& split,
                                   bool unknown) {
  const auto images = images_of_split(dataset, split);
  std::vector<int64_t> chosen;
  for (int64_t row = 0; row < std::ssize(rows.image); ++row) {
    const int64_t image = rows.image[static_cast<std::size_t>(row)];
    if (split == kAll || (image == -1 ? unknown : images.contains(image))) chosen.push_back(row);
  }
  return chosen;
}

// Some rows of maps, ascending; where they lie together they are handed on as they are.
metrics::MapSource chosen_maps(const metrics::Maps& all, std::span<const int64_t> rows) {
  constexpr int64_t kBatch = 64;
  const auto each_batch = [all, rows](const metrics::VisitBatch& visit) {
    const auto row_values = static_cast<std::size_t>(all.filters * all.side * all.side);
    for (std::size_t first = 0; first < rows.size();) {
      auto end = first + 1;
      while (end < rows.size() && end - first < kBatch && rows[end] == rows[end - 1] + 1) ++end;
      const auto values = all.values.subspan(static_cast<std::size_t>(rows[first]) * row_values,
                                             (end - first) * row_values);
      visit({values, static_cast<int64_t>(end - first), all.filters, all.side},
            static_cast<int64_t>(first));
      first = end;
    }
  };
  return {std::ssize(rows), all.filters, all.side, each_batch};
}

template <typename T>
std::vector<T> chosen(const std::vector<T>& all, std::span<const int64_t> rows) {
  std::vector<T> some;
  some.reserve(rows.size());
  for (const int64_t row : rows) some.push_back(all[static_cast<std::size_t>(row)]);
  return some;
}

// A dump laid against its dataset.
class Judging {
 public:
  Judging(const Dump& dump, const datasets::PartDataset& dataset, const RefereeOptions& options)
      : dump_(dump), dataset_(dataset), options_(options) {
    task_ = !options.task.empty() ? options.task : dump.label.task;
    if (task_.empty()) task_ = "multi";
    split_ = !options.split.empty() ? options.split : dump.label.split;
    if (split_.empty()) split_ = kAll;
    categories_ = categories_of(task_, dataset);
    check_split();
    rows_ = rows_of(dump, dataset);
    for (const auto& sample : rows_.samples) category_.push_back(category_of(sample));
    judged_ = rows_in_split(rows_, dataset, split_, true);
    training_ = rows_in_split(rows_, dataset, "train", split_ == "train");
    for (const int64_t row : judged_) {
      if (category_[static_cast<std::size_t>(row)] >= 0) objects_.push_back(row);
    }
    ensure(!objects_.empty(), "{}: no row shows an object of {} in split '{}' of {}", dump.file,
           join(categories_.names), split_, dataset.root.string());
  }

  findings::RunFindings run() {
    const auto& bootstrap = options_.measures.bootstrap;
    const int threads = static_cast<int>(bootstrap.threads);
    const auto labelled = [&](std::span<const int64_t> rows) {
      return metrics::LabelledRows{metrics::summarise(chosen_maps(dump_.maps, rows), threads),
                                   chosen(category_, rows)};
    };
    const auto judged = labelled(judged_);
    std::optional<metrics::LabelledRows> training;
    if (!training_.empty()) training = labelled(training_);
    const auto filter_category = assigned(judged, training);
    const auto truth = models::truth_of(dataset_, categories_.ids, chosen(rows_.samples, objects_),
                                        dump_.label.grid.input_side);
    const metrics::LayerMaps layer{dump_.label.layer.empty() ? "layer" : dump_.label.layer,
                                   dump_.label.grid, dump_.label.masked_grid,
                                   chosen_maps(dump_.maps, objects_),
                                   chosen_maps(dump_.masked, objects_)};
    note_training_images();
    const metrics::Exam exam{truth, filter_category, judged, training, {}};
    findings::RunFindings found;
    found.net = dump_.label.net;
    found.task = task_;
    found.split = split_;
    found.rows = std::ssize(judged_);
    found.train_rows = std::ssize(training_);
    found.training_images = seen_in_training_;
    found.category_from = category_from_;
    found.categories = categories_.names;
    found.layers = {
        layer_findings(layer, exam, metrics::measure_layer(layer, exam, options_.measures))};
    found.notes = notes_;
    return found;
  }

 private:
  void check_split() const {
    if (split_ == kAll) return;
    std::vector<std::string> names;
    for (const auto& [name, ids] : dataset_.splits) names.push_back(name);
    names.emplace_back(kAll);
    index_of_name("split", split_, names);
  }

  [[nodiscard]] int64_t category_of(const datasets::Sample& sample) const {
    if (sample.annotation_index < 0) return -1;
    return categories_.index_of(
        dataset_.annotations[static_cast<std::size_t>(sample.annotation_index)].category_id);
  }

  std::vector<int64_t> assigned(const metrics::LabelledRows& judged,
                                const std::optional<metrics::LabelledRows>& training) {
    std::vector<int64_t> result;
    if (dump_.category) {
      category_from_ = "dump";
      for (std::size_t f = 0; f < dump_.category->size(); ++f) {
        result.push_back(categories_.index_of((*dump_.category)[f]));
        ensure(result.back() >= 0, "{}: filter {} stands for category id {}; {} has {}", dump_.file,
               f, (*dump_.category)[f], task_, fmt::join(categories_.ids, ", "));
      }
      return result;
    }
    const bool known = training && std::any_of(training->category.begin(), training->category.end(),
                                               [](int64_t category) { return category >= 0; });
    category_from_ = known ? "train" : "judged rows";
    if (!known) {
      notes_.emplace_back(
          "the filters' categories were taken from the judged rows, as the dump has neither "
          "'category' nor rows of the train split: numbers are flattered");
    }
    const auto& from = known ? *training : judged;
    return metrics::strongest_category(from.summaries, from.category, std::ssize(categories_.ids));
  }

  void note_training_images() {
    const std::set<int64_t> train(training_.begin(), training_.end());
    seen_in_training_ = std::count_if(judged_.begin(), judged_.end(),
                                      [&](int64_t row) { return train.contains(row); });
    if (seen_in_training_ > 0)
      notes_.push_back(fmt::format("{} of {} judged images are training images", seen_in_training_,
                                   judged_.size()));
  }

  const Dump& dump_;
  const datasets::PartDataset& dataset_;
  const RefereeOptions& options_;
  std::string task_;
  std::string split_;
  Categories categories_;
  Rows rows_;
  std::vector<int64_t> category_;  // [rows]: index into categories_; -1: none
  std::vector<int64_t> judged_;
  std::vector<int64_t> training_;
  std::vector<int64_t> objects_;  // the judged rows that show an object of the task
  int64_t seen_in_training_ = 0;
  std::string category_from_;
  std::vector<std::string> notes_;
};

}  // namespace

findings::RunFindings judge(const Dump& dump,
                            const datasets::PartDataset& dataset,
                            const RefereeOptions& options) {
  return Judging(dump, dataset, options).run();
}

}  // namespace partwise::judging
