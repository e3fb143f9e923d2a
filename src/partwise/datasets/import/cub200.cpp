#include "partwise/base/error.h"
#include "partwise/datasets/import/importers.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

// Calls visit(stream) with each line of a table. The visitor reads its columns and says whether the
// line is the first of its kind: a second one for an id must not take the place of the first.
template <typename Visit>
void for_each_row(const fs::path& file, const Visit& visit) {
  std::ifstream stream(file);
  ensure(stream.good(), "{}: cannot open; expected the CUB_200_2011 folder", file.string());
  std::string line;
  for (int64_t number = 1; std::getline(stream, line); ++number) {
    if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
    std::istringstream row(line);
    const bool first = visit(row);
    ensure(!row.fail(), "{}: line {}: '{}' has not the columns expected", file.string(), number,
           line.substr(0, 60));
    ensure(first, "{}: line {}: '{}' has an id that was there before", file.string(), number,
           line.substr(0, 60));
  }
}

// "id name with spaces"
std::map<int64_t, std::string> read_names(const fs::path& file) {
  std::map<int64_t, std::string> names;
  for_each_row(file, [&](std::istream& row) {
    int64_t id = 0;
    std::string name;
    row >> id >> std::ws;
    std::getline(row, name);
    while (!name.empty() && (name.back() == '\r' || name.back() == ' ')) name.pop_back();
    return names.emplace(id, name).second;
  });
  return names;
}

std::istream& operator>>(std::istream& row, Box& box) {
  return row >> box.x >> box.y >> box.width >> box.height;
}

// "id value"
template <typename Value>
std::map<int64_t, Value> read_table(const fs::path& file) {
  std::map<int64_t, Value> table;
  for_each_row(file, [&](std::istream& row) {
    int64_t id = 0;
    Value value{};
    row >> id >> value;
    return table.emplace(id, value).second;
  });
  return table;
}

using Landmarks = std::map<std::string, std::vector<Point>>;

std::map<int64_t, Landmarks> read_landmarks(const fs::path& file,
                                            const std::map<int64_t, std::string>& names) {
  std::map<int64_t, Landmarks> landmarks;
  for_each_row(file, [&](std::istream& row) {
    int64_t image = 0;
    int64_t part = 0;
    Point point;
    int visible = 0;
    row >> image >> part >> point.x >> point.y >> visible;
    if (row.fail() || visible == 0) return true;
    const auto name = names.find(part);
    ensure(name != names.end(), "{}: part {} is not in parts.txt", file.string(), part);
    landmarks[image][name->second].push_back(point);
    return true;
  });
  return landmarks;
}

// "001.Black_footed_Albatross" -> "Black_footed_Albatross"
std::string species(const std::string& original) {
  const auto dot = original.find('.');
  return dot == std::string::npos ? original : original.substr(dot + 1);
}

template <typename Value>
const Value& of_image(const std::map<int64_t, Value>& table, int64_t id, const char* file) {
  const auto found = table.find(id);
  ensure(found != table.end(), "{}: image {} of images.txt is missing", file, id);
  return found->second;
}

}  // namespace

ImportPlan plan_cub200(const fs::path& source, std::span<const std::string> asked) {
  const auto root = fs::exists(source / "CUB_200_2011") ? source / "CUB_200_2011" : source;
  ImportPlan plan;
  const auto table = [&](const char* name) {
    return plan.truth_files.emplace(name, root / name).first->second;
  };
  const auto files = read_names(table("images.txt"));
  const auto classes = read_names(table("classes.txt"));
  const auto labels = read_table<int64_t>(table("image_class_labels.txt"));
  const auto training = read_table<int64_t>(table("train_test_split.txt"));
  const auto boxes = read_table<Box>(table("bounding_boxes.txt"));
  const auto part_names = read_names(table("parts/parts.txt"));
  const auto landmarks = read_landmarks(table("parts/part_locs.txt"), part_names);

  std::vector<Choice> offered;
  offered.reserve(classes.size());
  for (const auto& [id, name] : classes) offered.push_back({species(name), name});
  const auto wanted = chosen(offered, asked);
  std::map<int64_t, bool> used;  // wanted class -> has an image
  std::size_t at = 0;
  for (const auto& [id, name] : classes) {
    if (wanted[at++]) used[id] = false;
  }

  for (const auto& [id, points] : landmarks) {
    if (!files.contains(id)) {
      plan.skipped.push_back(
          {kTruthUnusable, fmt::format("part_locs.txt: image {}", id),
           fmt::format("images.txt has no such image; {} landmarks", points.size())});
    }
  }
  std::set<fs::path> listed;
  for (const auto& [id, file] : files) listed.insert(fs::path(file).lexically_normal());
  name_others(root / "images", listed, kFileElsewhere, "images.txt does not list it", plan);
  for (const auto& [id, file] : files) {
    const int64_t label = of_image(labels, id, "image_class_labels.txt");
    ensure(classes.contains(label), "{}: image {}: there is no class {} in classes.txt",
           (root / "image_class_labels.txt").string(), id, label);
    const auto use = used.find(label);
    if (use == used.end()) continue;
    use->second = true;
    Annotation bird;
    bird.category_id = label;
    bird.bbox = of_image(boxes, id, "bounding_boxes.txt");
    if (const auto found = landmarks.find(id); found != landmarks.end()) {
      bird.landmarks = found->second;
    }
    auto& image = plan.images.emplace_back();
    image.id = id;
    image.source = root / "images" / file;
    image.file_name = (fs::path("images") / fs::path(file).lexically_normal()).string();
    image.stratum = label;
    image.official_train = of_image(training, id, "train_test_split.txt") != 0;
    image.objects = [bird](int64_t /*width*/, int64_t /*height*/) {
      return Objects{{bird}, {}, {}};
    };
  }
  std::vector<std::string> names;
  names.reserve(part_names.size());
  for (const auto& [id, name] : part_names) names.push_back(name);
  for (const auto& [id, has_images] : used) {
    if (has_images) plan.categories.push_back({id, species(classes.at(id)), {}, names});
  }
  return plan;
}

}  // namespace partwise::datasets
