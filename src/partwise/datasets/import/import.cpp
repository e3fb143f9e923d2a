#include "partwise/datasets/import/import.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/datasets/dataset_lock.h"
#include "partwise/datasets/import/doubts.h"
#include "partwise/datasets/import/importers.h"
#include "partwise/datasets/import/splits.h"
#include "partwise/formats/json_records.h"
#include "partwise/formats/matlab.h"
#include "partwise/images/codec.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>

namespace partwise::datasets {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Skipped, kind, name, reason)

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Counts up whenever the same original and options would give another dataset.
constexpr int64_t kImporterVersion = 4;
constexpr std::size_t kLargestFile = std::size_t{256} << 20U;
constexpr int64_t kMostImagePixels = 64'000'000;  // one per thread is in memory
constexpr double kLeastExtent = 1e-6;
constexpr auto kSkippedFile = "skipped.json";
constexpr auto kNotes = "notes";  // of the dataset's info

constexpr int64_t kMergedCategory = 1;

// What became of one planned image.
struct Outcome {
  bool usable = false;
  int64_t width = 0;
  int64_t height = 0;
  std::string content;
  std::vector<Annotation> objects;
  std::vector<Skipped> skipped;
};

// Recognises the original without naming the machine it lies on.
std::string fingerprint(const ImportPlan& plan) {
  std::string text;
  for (const auto& image : plan.images) {
    std::error_code absent;
    const auto size = fs::file_size(image.source, absent);
    text += fmt::format("{}:{};", image.file_name, absent ? 0 : size);
  }
  for (const auto& category : plan.categories) text += category.name + ";";
  return content_hash(text);
}

// Recognises what it says of its images. A file that cannot be read is named where it is needed.
std::string truth_hash(const ImportPlan& plan) {
  ContentHash hash;
  for (const auto& [place, path] : plan.truth_files) {
    try {
      const auto file = map_file(path);
      hash.add(fmt::format("{}:{};", place, file.bytes.size()));
      hash.add(file.bytes);
    } catch (const Error&) {
      hash.add(fmt::format("{}:unreadable;", place));
    }
  }
  return hash.text();
}

std::vector<Skipped> read_skipped(const fs::path& folder) {
  const auto file = folder / kSkippedFile;
  if (!fs::exists(file)) return {};
  try {
    return read_json(file).get<std::vector<Skipped>>();
  } catch (const json::exception& problem) {
    throw Error(
        fmt::format("{}: damaged ({}); mend or delete it", file.string(), reason_in(problem)));
  }
}

// What was noted when the dataset was made.
std::vector<std::string> read_notes(const PartDataset& dataset) {
  const auto found = dataset.info.find(kNotes);
  if (found == dataset.info.end()) return {};
  return formats::names_member(dataset.info, kNotes,
                               (dataset.root / "dataset.json").string() + ": info");
}

// Bytes that are not UTF-8 become replacement characters, so that the text can be written as JSON.
std::string legible(const std::string& text) {
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

// An original may come from a stranger: it must not make us write outside the dataset.
bool stays_inside(const std::string& file_name) {
  const fs::path path(file_name);
  return path.is_relative() && path.has_filename() &&
         std::find(path.begin(), path.end(), "..") == path.end();
}

bool finite(const Box& box) {
  return std::isfinite(box.x) && std::isfinite(box.y) && std::isfinite(box.width) &&
         std::isfinite(box.height);
}

// The part of a box inside a width x height image; empty when less than a millionth of a pixel is.
std::optional<Box> clipped(const Box& box, int64_t width, int64_t height) {
  if (!finite(box)) return std::nullopt;
  const double left = std::max(box.x, 0.0);
  const double top = std::max(box.y, 0.0);
  const double right = std::min(box.x + box.width, static_cast<double>(width));
  const double bottom = std::min(box.y + box.height, static_cast<double>(height));
  if (right - left < kLeastExtent || bottom - top < kLeastExtent) return std::nullopt;
  return Box{left, top, right - left, bottom - top};
}

// Makes an object's truth fit its image: boxes are clipped, parts and landmarks outside are dropped
// and named in `lost`. Of a landmark with several instances none is kept where one is outside: the
// others would pass for all there are. Returns why the object can't be used, or nothing.
std::string fit_to_image(Annotation& object,
                         int64_t width,
                         int64_t height,
                         std::vector<std::string>& lost) {
  const auto box = clipped(object.bbox, width, height);
  if (!box) {
    return fmt::format("its box [{}, {}, {}, {}] holds nothing of the {} x {} image", object.bbox.x,
                       object.bbox.y, object.bbox.width, object.bbox.height, width, height);
  }
  object.bbox = *box;
  for (auto& [name, region] : object.parts) {
    if (region.bbox) region.bbox = clipped(*region.bbox, width, height);
    if (region.segmentation && mask_area(*region.segmentation) == 0) region.segmentation.reset();
  }
  std::erase_if(object.parts, [&](const auto& part) {
    const bool empty = !part.second.bbox && !part.second.segmentation;
    if (empty) lost.push_back(fmt::format("part {} holds nothing of the image", part.first));
    return empty;
  });
  // A landmark on the very edge, or a rounding outside, still counts.
  const auto outside = [](double at, int64_t size) {
    return !(at >= -1.0 && at <= static_cast<double>(size) + 1.0);
  };
  std::erase_if(object.landmarks, [&](const auto& landmark) {
    const auto& [name, points] = landmark;
    const auto first = std::find_if(points.begin(), points.end(), [&](Point point) {
      return outside(point.x, width) || outside(point.y, height);
    });
    if (first == points.end()) return points.empty();
    lost.push_back(fmt::format("landmark {} at ({}, {}) lies outside the {} x {} image{}", name,
                               first->x, first->y, width, height,
                               points.size() > 1 ? "; its other instances go with it" : ""));
    return true;
  });
  return "";
}

// Pictures of kinds this program does not read; "" for anything else.
std::string foreign_kind(std::string_view bytes) {
  using std::literals::operator""sv;
  if (bytes.starts_with("GIF8")) return "GIF";
  if (bytes.starts_with("BM")) return "BMP";
  if (bytes.starts_with("II*\0"sv) || bytes.starts_with("MM\0*"sv)) return "TIFF";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "WebP";
  if (bytes.substr(0, 8).ends_with("ftyp")) return "HEIC, AVIF or film";
  return "";
}

// Decodes the image, reads its truth, copies its bytes.
Outcome take_image(const PlannedImage& planned, const fs::path& out) {
  Outcome outcome;
  const auto skip = [&](const char* kind, const std::string& reason) {
    outcome.skipped.push_back({kind, legible(planned.file_name), legible(reason)});
    return outcome;
  };
  std::error_code failure;
  if (!fs::is_regular_file(planned.source, failure)) {
    return skip(kImageAbsent, fmt::format("{}: no such file", planned.source.string()));
  }
  if (legible(planned.file_name) != planned.file_name) {
    return skip(kImageUnreadable, "its name is not UTF-8; rename it");
  }
  if (!stays_inside(planned.file_name)) {
    return skip(kImageUnreadable, "its name leads out of the folder");
  }
  std::string bytes;
  try {
    bytes = read_file(planned.source, kLargestFile);
    if (const auto kind = foreign_kind(bytes); !kind.empty()) {
      return skip(kImageUnreadable, fmt::format("{}: a {} file; convert it to JPEG or PNG",
                                                planned.source.string(), kind));
    }
    const auto image = images::decode_image(bytes, planned.source.string(), kMostImagePixels);
    outcome.width = image.width;
    outcome.height = image.height;
  } catch (const Error& problem) {
    return skip(kImageUnreadable, problem.what());
  }
  if (planned.objects) {
    Objects objects;
    try {
      objects = planned.objects(outcome.width, outcome.height);
    } catch (const Error& problem) {
      return skip(kAnnotationUnusable, problem.what());
    }
    for (auto& object : objects.annotations) {
      const auto reason = fit_to_image(object, outcome.width, outcome.height, objects.lost);
      if (reason.empty()) {
        outcome.objects.push_back(std::move(object));
      } else {
        objects.unusable.push_back(reason);
      }
    }
    for (const auto& reason : objects.unusable) skip(kObjectUnusable, reason);
    for (const auto& reason : objects.lost) skip(kTruthUnusable, reason);
    // Without its objects it would pass for a negative.
    if (outcome.objects.empty()) return skip(kNothingChosen, "no usable object to import");
  }
  outcome.content = content_hash(bytes);
  const auto target = out / planned.file_name;
  fs::create_directories(target.parent_path());
  write_if_new(target, bytes);
  outcome.usable = true;
  return outcome;
}

// The original is at fault: what was taken of it is of no use.
class Unfit : public Error {
 public:
  using Error::Error;
};

void refuse_if_strict(const ImportRequest& request, const std::vector<Skipped>& skipped) {
  if (!request.strict) return;
  for (const auto& item : skipped) {
    if (item.kind == kNothingChosen) continue;
    throw Unfit(fmt::format("{}: {} ({}); without --strict it would be left out", item.name,
                            item.kind, item.reason));
  }
}

std::vector<Outcome> take_images(const ImportRequest& request, const ImportPlan& plan) {
  std::vector<Outcome> outcomes(plan.images.size());
  const Heeding heeding;
  Progress progress("importing", static_cast<int64_t>(outcomes.size()), "images");
  parallel_for(static_cast<int64_t>(outcomes.size()), request.threads, [&](int64_t i) {
    if (interrupt_requested()) {
      throw Interrupted(
          fmt::format("{}: interrupted; run again to complete it", request.out.string()));
    }
    const auto at = static_cast<std::size_t>(i);
    outcomes[at] = take_image(plan.images[at], request.out);
    refuse_if_strict(request, outcomes[at].skipped);
    progress.advance();
  });
  return outcomes;
}

// Gives the names of those dropped, but for categories of parts: they are never objects.
std::vector<std::string> drop_empty_categories(PartDataset& dataset) {
  std::set<int64_t> shown;
  std::set<std::string> parts;
  for (const auto& object : dataset.annotations) {
    shown.insert(object.category_id);
    for (const auto& [name, region] : object.parts) parts.insert(name);
  }
  std::vector<std::string> dropped;
  std::erase_if(dataset.categories, [&](const auto& category) {
    const bool empty = !shown.contains(category.id);
    if (empty && !parts.contains(category.name)) dropped.push_back(category.name);
    return empty;
  });
  return dropped;
}

// Names an original uses without declaring them (parts of a car, say) are declared here.
void declare_names(PartDataset& dataset) {
  for (auto& category : dataset.categories) {
    std::set<std::string> parts;
    std::set<std::string> landmarks;
    for (const auto& object : dataset.annotations) {
      if (object.category_id != category.id) continue;
      for (const auto& [name, region] : object.parts) parts.insert(name);
      for (const auto& [name, points] : object.landmarks) landmarks.insert(name);
    }
    const auto add = [](std::vector<std::string>& declared, const std::set<std::string>& seen) {
      for (const auto& name : seen) {
        if (std::find(declared.begin(), declared.end(), name) == declared.end()) {
          declared.push_back(name);
        }
      }
    };
    add(category.parts, parts);
    add(category.landmarks, landmarks);
  }
}

// Two entries for one file would be written at the same time, and lie on both sides of a split.
void drop_repeated_files(ImportPlan& plan) {
  std::set<std::string> seen;
  std::erase_if(plan.images, [&](const auto& image) {
    if (seen.insert(image.file_name).second) return false;
    plan.skipped.push_back(
        {kAnnotationUnusable, legible(image.file_name), "the original lists this image twice"});
    return true;
  });
}

Splits splits_of(const std::vector<SplitEntry>& entries, const ImportOptions& options) {
  switch (options.protocol) {
    case Protocol::own:
      return own_splits(entries, options.test_share, options.seed);
    case Protocol::clean:
      return clean_splits(entries, options.test_share, options.seed);
    case Protocol::paper:
      return paper_splits(entries);
  }
  return {};
}

ImportReport assemble(const ImportRequest& request,
                      const ImportPlan& plan,
                      std::vector<Outcome> outcomes) {
  ImportReport report{{}, plan.skipped, {}, {}};
  auto& dataset = report.dataset;
  dataset.root = request.out;
  dataset.categories = plan.categories;
  std::vector<SplitEntry> entries;
  int64_t next_id = 1;  // beyond those the original gives
  for (const auto& planned : plan.images) next_id = std::max(next_id, planned.id + 1);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    auto& outcome = outcomes[i];
    const auto& planned = plan.images[i];
    report.skipped.insert(report.skipped.end(), outcome.skipped.begin(), outcome.skipped.end());
    const int64_t stratum =
        outcome.objects.empty() ? planned.stratum : outcome.objects.front().category_id;
    if (!outcome.usable) {
      if (stratum != kUnknownStratum) {
        entries.push_back({0, stratum, "", planned.official_train, planned.own_split});
      }
      continue;
    }
    const int64_t id = planned.id != 0 ? planned.id : next_id++;
    dataset.images.push_back({id, planned.file_name, outcome.width, outcome.height});
    entries.push_back({id, stratum, outcome.content, planned.official_train, planned.own_split});
    for (auto& object : outcome.objects) {
      object.id = static_cast<int64_t>(dataset.annotations.size()) + 1;
      object.image_id = id;
      dataset.annotations.push_back(std::move(object));
    }
  }
  dataset.splits = splits_of(entries, request.options);
  const auto dropped = drop_empty_categories(dataset);
  if (!request.merged_name.empty()) {  // splits stay stratified by the original categories
    dataset.categories = {Category{kMergedCategory, request.merged_name, {}, {}}};
    for (auto& object : dataset.annotations) object.category_id = kMergedCategory;
  }
  declare_names(dataset);
  std::vector<std::string> content;
  for (const auto& outcome : outcomes) {
    if (outcome.usable) content.push_back(outcome.content);
  }
  report.same_pictures = same_pictures_in_two_classes(dataset, content);
  report.notes = doubts_about(dataset, plan, dropped, report.same_pictures);
  for (auto& note : report.notes) note = legible(note);
  return report;
}

// Before anything is copied: a dataset of these could not be read again.
void require_distinct_names(const ImportRequest& request, const ImportPlan& plan) {
  std::set<std::string> names;
  for (const auto& category : plan.categories) {
    ensure(!request.merged_name.empty() || names.insert(category.name).second,
           "{}: the category name '{}' occurs twice; rename one of them", request.source.string(),
           category.name);
  }
}

// What is written inside the original would be taken for a part of it the next time.
void require_apart(const fs::path& out, const fs::path& original) {
  std::error_code failure;  // a folder that cannot be there is refused where it is made
  if (out.empty() || !fs::is_directory(original, failure)) return;
  const auto inner = fs::weakly_canonical(fs::absolute(out), failure);
  const auto outer = fs::canonical(original);
  const auto end = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first;
  ensure(failure || end != outer.end(),
         "{}: lies inside the original, {}; choose a folder outside of it", out.string(),
         original.string());
}

// Without folders of its own it is clean, and the same dataset.
ImportOptions settled(ImportOptions options, const ImportPlan& plan) {
  const bool has_own = std::any_of(plan.images.begin(), plan.images.end(),
                                   [](const auto& image) { return !image.own_split.empty(); });
  if (options.protocol == Protocol::own && !has_own) options.protocol = Protocol::clean;
  return options;
}

}  // namespace

namespace {

// Of an original that is refused nothing stays that would refuse the mended one.
ImportReport report_of(const ImportRequest& request, const ImportPlan& plan) {
  try {
    auto report = assemble(request, plan, take_images(request, plan));
    if (!report.dataset.images.empty()) return report;
    throw Unfit(
        fmt::format("{}: holds no image that can be used ({} skipped{})", request.source.string(),
                    report.skipped.size(),
                    report.skipped.empty() ? "" : ", the first: " + report.skipped.front().reason));
  } catch (const Unfit&) {
    forget_unfinished(request.out);
    throw;
  }
}

}  // namespace

ImportReport import_dataset(const ImportRequest& request) {
  validate(request.options);
  const auto& format = import_format(request.format);
  ensure(fs::exists(request.source), "{}: no such file or folder", request.source.string());
  ensure(!format.needs_matlab || formats::matlab73_supported(),
         "{}: this build cannot read MATLAB 7.3 files; install libhdf5-dev and build again",
         format.name);
  require_apart(request.out, request.source);
  if (!request.negatives.empty()) require_apart(request.out, request.negatives);
  auto plan = format.plan(request.source, request.categories);
  if (!request.negatives.empty()) plan_negatives(request.negatives, plan);
  require_distinct_names(request, plan);
  drop_repeated_files(plan);
  for (auto& item : plan.skipped) item = {item.kind, legible(item.name), legible(item.reason)};
  refuse_if_strict(request, plan.skipped);
  ensure(!plan.images.empty(), "{}: holds no image to import", request.source.string());
  const json identity{{"importer", request.format},
                      {"importer_version", kImporterVersion},
                      {"categories", request.categories},
                      {"merged_name", request.merged_name},
                      {"original", fingerprint(plan)},
                      {"annotations", truth_hash(plan)},
                      {"options", partwise::to_json(settled(request.options, plan))}};
  const DatasetLock alone(request.out);
  if (auto finished = begin_dataset(request.out, identity)) {
    auto notes = read_notes(*finished);
    return {*std::move(finished), read_skipped(request.out), {}, std::move(notes)};
  }
  auto report = report_of(request, plan);
  report.dataset.info = identity;
  report.dataset.info["skipped"] = count_by_kind(report.skipped);
  if (!report.notes.empty()) report.dataset.info[kNotes] = report.notes;
  write_json_atomically(request.out / kSkippedFile, report.skipped);
  report.dataset = finish_dataset(report.dataset);
  return report;
}

std::map<std::string, int64_t> count_by_kind(const std::vector<Skipped>& skipped) {
  std::map<std::string, int64_t> counts;
  for (const auto& item : skipped) ++counts[item.kind];
  return counts;
}

}  // namespace partwise::datasets
