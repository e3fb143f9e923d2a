#include "partwise/base/error.h"
#include "partwise/datasets/import/importers.h"

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

// A column that is 0 or 1.
struct Flag {
  bool set = false;
};

std::istream& operator>>(std::istream& row, Flag& flag) {
  int64_t value = 0;
  if (row >> value && value != 0 && value != 1) row.setstate(std::ios::failbit);
  flag.set = value == 1;
  return row;
}

// Calls visit(stream) with each line of a table. The visitor reads its columns, all there are, and
// says what else is wrong, or "". A second line for an id must not take the place of the first.
template <typename Visit>
void for_each_row(const fs::path& file, const Visit& visit) {
  std::ifstream stream(file);
  ensure(stream.good(), "{}: cannot open; expected the CUB_200_2011 folder", file.string());
  std::string line;
  for (int64_t number = 1; std::getline(stream, line); ++number) {
    if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
    std::istringstream row(line);
    const std::string wrong = visit(row);
    const auto place = fmt::format("{}: line {}: '{}'", file.string(), number, line.substr(0, 60));
    ensure(!row.fail(), "{} has not the columns and values expected", place);
    std::string rest;
    ensure(!(row >> rest), "{} goes on with '{}' where it should end", place, rest.substr(0, 20));
    ensure(wrong.empty(), "{} {}", place, wrong);
  }
}

constexpr auto kIdAgain = "has an id that was there before";

// "id name with spaces"
std::map<int64_t, std::string> read_names(const fs::path& file) {
  std::map<int64_t, std::string> names;
  for_each_row(file, [&](std::istream& row) {
    int64_t id = 0;
    std::string name;
    row >> id >> std::ws;
    std::getline(row, name);
    while (!name.empty() && (name.back() == '\r' || name.back() == ' ')) name.pop_back();
    return names.emplace(id, name).second ? "" : kIdAgain;
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
    return table.emplace(id, value).second ? "" : kIdAgain;
  });
  return table;
}

using Landmarks = std::map<std::string, std::vector<Point>>;

std::string image_in_locations(int64_t image) {
  return fmt::format("part_locs.txt: image {}", image);
}

// What part_locs.txt says of one image.
struct Located {
  std::set<int64_t> parts;  // those it has a line for, seen or not
  Landmarks visible;
};

std::map<int64_t, Located> read_landmarks(const fs::path& file,
                                          const std::map<int64_t, std::string>& names,
                                          std::vector<Skipped>& skipped) {
  std::map<int64_t, Located> located;
  for_each_row(file, [&](std::istream& row) {
    int64_t image = 0;
    int64_t part = 0;
    Point point;
    Flag visible;
    row >> image >> part >> point.x >> point.y >> visible;
    if (row.fail()) return "";
    const auto name = names.find(part);
    if (name == names.end()) return "names a part that is not in parts.txt";
    if (!located[image].parts.insert(part).second) {
      skipped.push_back(
          {kTruthUnusable, image_in_locations(image),
           fmt::format("it has another line for {}; the first one counts", name->second)});
    } else if (visible.set) {
      located[image].visible[name->second].push_back(point);
    }
    return "";
  });
  return located;
}

// Every image has a line for every part, also for those that cannot be seen in it.
void name_missing_lines(int64_t image,
                        const std::set<int64_t>& told,
                        const std::map<int64_t, std::string>& names,
                        std::vector<Skipped>& skipped) {
  for (const auto& [part, name] : names) {
    if (!told.contains(part)) {
      skipped.push_back({kTruthUnusable, image_in_locations(image),
                         fmt::format("it has no line for {}; is the file cut off?", name)});
    }
  }
}

// Lines of a table for images that are not there.
template <typename Value>
void name_unlisted(const std::map<int64_t, Value>& table,
                   const std::map<int64_t, std::string>& images,
                   const char* file,
                   std::vector<Skipped>& skipped) {
  for (const auto& [id, value] : table) {
    if (!images.contains(id)) {
      skipped.push_back({kAnnotationUnusable, fmt::format("{}: image {}", file, id),
                         "images.txt has no such image"});
    }
  }
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
  const auto training = read_table<Flag>(table("train_test_split.txt"));
  const auto boxes = read_table<Box>(table("bounding_boxes.txt"));
  const auto part_names = read_names(table("parts/parts.txt"));
  const auto located = read_landmarks(table("parts/part_locs.txt"), part_names, plan.skipped);
  name_unlisted(labels, files, "image_class_labels.txt", plan.skipped);
  name_unlisted(training, files, "train_test_split.txt", plan.skipped);
  name_unlisted(boxes, files, "bounding_boxes.txt", plan.skipped);

  std::vector<Choice> offered;
  offered.reserve(classes.size());
  for (const auto& [id, name] : classes) offered.push_back({species(name), name});
  const auto wanted = chosen(offered, asked);
  std::map<int64_t, bool> used;  // wanted class -> has an image
  std::size_t at = 0;
  for (const auto& [id, name] : classes) {
    if (wanted[at++]) used[id] = false;
  }

  for (const auto& [id, parts] : located) {
    if (!files.contains(id)) {
      plan.skipped.push_back(
          {kTruthUnusable, image_in_locations(id),
           fmt::format("images.txt has no such image; {} landmarks", parts.visible.size())});
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
    const auto found = located.find(id);
    const auto parts = found == located.end() ? Located{} : found->second;
    name_missing_lines(id, parts.parts, part_names, plan.skipped);
    bird.landmarks = parts.visible;
    auto& image = plan.images.emplace_back();
    image.id = id;
    image.source = root / "images" / file;
    image.file_name = (fs::path("images") / fs::path(file).lexically_normal()).string();
    image.stratum = label;
    image.official_train = of_image(training, id, "train_test_split.txt").set;
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
