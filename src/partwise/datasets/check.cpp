#include "partwise/datasets/check.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/datasets/crops.h"
#include "partwise/images/codec.h"

#include <cmath>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

namespace partwise::datasets {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LandmarkCount, objects, single_instance)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageProblem, file_name, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    SplitLeak, first_split, first_file, second_split, second_file, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SamePicture, first_file, first_class, second_file, second_class)

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct FileFinding {
  std::vector<ImageProblem> DatasetSummary::*kind = nullptr;  // none: the file is fine
  std::string reason;
  std::string hash;
};

FileFinding check_file(const fs::path& root, const ImageRecord& record) {
  const auto path = root / record.file_name;
  std::error_code failure;  // a name too long, say: nothing there either
  if (!fs::exists(path, failure)) return {&DatasetSummary::missing, "no such file", ""};
  try {
    const auto bytes = read_file(path);
    FileFinding finding{nullptr, "", content_hash(bytes)};
    const auto image = images::decode_image(bytes, record.file_name);
    if (image.width != record.width || image.height != record.height) {
      finding.kind = &DatasetSummary::wrong_size;
      finding.reason = fmt::format("is {} x {}, dataset.json says {} x {}", image.width,
                                   image.height, record.width, record.height);
    }
    return finding;
  } catch (const Error& problem) {
    return {&DatasetSummary::unreadable, problem.what(), ""};
  }
}

std::vector<FileFinding> check_files(const PartDataset& dataset, int threads) {
  std::vector<FileFinding> findings(dataset.images.size());
  const Abandonable abandonable("interrupted while checking images; nothing was written");
  Progress progress("checking images", static_cast<int64_t>(findings.size()), "images");
  parallel_for(static_cast<int64_t>(findings.size()), threads, [&](int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    findings[at] = check_file(dataset.root, dataset.images[at]);
    progress.advance();
  });
  return findings;
}

// Remembers where each key (an id, a hash) was first seen in each split.
class LeakFinder {
 public:
  explicit LeakFinder(std::string reason) : reason_(std::move(reason)) {}

  void visit(const std::string& key,
             const std::string& split,
             const std::string& file,
             std::vector<SplitLeak>& leaks) {
    auto& places = seen_[key];
    if (!places.emplace(split, file).second) return;
    for (const auto& [other, other_file] : places) {
      if (other != split) leaks.push_back({other, other_file, split, file, reason_});
    }
  }

 private:
  std::string reason_;
  std::unordered_map<std::string, std::map<std::string, std::string>> seen_;
};

std::string object_key(const std::string& hash, const Annotation& object) {
  const auto& box = object.bbox;
  return fmt::format("{} {} {} {} {} {}", hash, object.category_id, box.x, box.y, box.width,
                     box.height);
}

std::vector<SplitLeak> find_leaks(const PartDataset& dataset,
                                  const std::vector<FileFinding>& findings) {
  std::unordered_map<int64_t, std::size_t> index;
  for (std::size_t i = 0; i < dataset.images.size(); ++i) index[dataset.images[i].id] = i;
  std::unordered_map<int64_t, std::vector<const Annotation*>> objects;
  for (const auto& object : dataset.annotations) objects[object.image_id].push_back(&object);
  std::vector<SplitLeak> leaks;
  LeakFinder same_image("the same image");
  LeakFinder same_object("the same object in identical images");
  LeakFinder same_content("identical content");
  for (const auto& [split, ids] : dataset.splits) {
    for (const int64_t id : ids) {
      const auto at = index.at(id);
      const auto& file = dataset.images[at].file_name;
      const auto before = leaks.size();
      same_image.visit(std::to_string(id), split, file, leaks);
      // The strongest reason is given alone: the same image has the same objects and content.
      const auto& hash = findings[at].hash;
      if (leaks.size() > before || hash.empty()) continue;
      for (const auto* object : objects[id]) {
        same_object.visit(object_key(hash, *object), split, file, leaks);
      }
      if (leaks.size() > before) continue;
      same_content.visit(hash, split, file, leaks);
    }
  }
  return leaks;
}

// Sample standard deviation of distances to the crop's centre, in units of its diagonal.
std::optional<double> deviation(const std::vector<double>& distances) {
  if (distances.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(distances.size());
  double mean = 0.0;
  for (const double distance : distances) mean += distance / count;
  double squares = 0.0;
  for (const double distance : distances) squares += (distance - mean) * (distance - mean);
  return std::sqrt(squares / (count - 1.0));
}

double distance_from_centre(Point point, const Box& box) {
  const Point share = crop_from_image(point, box, 1);
  return std::hypot(share.x - 0.5, share.y - 0.5) / std::sqrt(2.0);
}

CategorySummary summarise(const PartDataset& dataset, const Category& category) {
  CategorySummary summary;
  summary.name = category.name;
  for (const auto& part : category.parts) summary.parts[part] = 0;
  for (const auto& landmark : category.landmarks) summary.landmarks[landmark] = {};
  std::map<std::string, std::vector<double>> distances;
  for (const auto& annotation : dataset.annotations) {
    if (annotation.category_id != category.id) continue;
    ++summary.objects;
    for (const auto& [name, region] : annotation.parts) ++summary.parts[name];
    for (const auto& [name, points] : annotation.landmarks) {
      ++summary.landmarks[name].objects;
      if (points.size() != 1) continue;
      ++summary.landmarks[name].single_instance;
      distances[name].push_back(distance_from_centre(points.front(), annotation.bbox));
    }
  }
  double sum = 0.0;
  int64_t counted = 0;
  for (const auto& [name, values] : distances) {
    const auto spread = deviation(values);
    if (!spread) continue;
    sum += *spread;
    ++counted;
  }
  if (counted > 0) summary.constant_centre_instability = sum / static_cast<double>(counted);
  return summary;
}

json json_from_category(const CategorySummary& category) {
  json value{
      {"objects", category.objects}, {"parts", category.parts}, {"landmarks", category.landmarks}};
  value["constant_centre_instability"] =
      category.constant_centre_instability ? json(*category.constant_centre_instability) : json();
  return value;
}

}  // namespace

DatasetSummary check_dataset(const PartDataset& dataset, int threads) {
  DatasetSummary summary;
  summary.images = static_cast<int64_t>(dataset.images.size());
  summary.annotations = static_cast<int64_t>(dataset.annotations.size());
  std::unordered_set<int64_t> shown;
  for (const auto& annotation : dataset.annotations) shown.insert(annotation.image_id);
  summary.negatives = summary.images - static_cast<int64_t>(shown.size());
  for (const auto& category : dataset.categories) {
    summary.categories.push_back(summarise(dataset, category));
  }
  for (const auto& [name, ids] : dataset.splits) {
    summary.splits[name] = static_cast<int64_t>(ids.size());
  }
  const auto findings = check_files(dataset, threads);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto& [kind, reason, hash] = findings[i];
    if (kind != nullptr) (summary.*kind).push_back({dataset.images[i].file_name, reason});
  }
  summary.leaks = find_leaks(dataset, findings);
  std::vector<std::string> content;
  for (const auto& finding : findings) content.push_back(finding.hash);
  summary.same_pictures = same_pictures_in_two_classes(dataset, content);
  return summary;
}

json to_json(const DatasetSummary& summary) {
  json value{{"images", summary.images},
             {"negatives", summary.negatives},
             {"annotations", summary.annotations},
             {"categories", json::object()},
             {"splits", summary.splits},
             {"missing", summary.missing},
             {"unreadable", summary.unreadable},
             {"wrong_size", summary.wrong_size},
             {"leaks", summary.leaks},
             {"same_pictures", summary.same_pictures},
             {"sound", summary.sound()}};
  for (const auto& category : summary.categories) {
    value["categories"][category.name] = json_from_category(category);
  }
  return value;
}

}  // namespace partwise::datasets
