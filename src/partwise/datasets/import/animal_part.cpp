#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/datasets/import/importers.h"
#include "partwise/datasets/import/truth_file.h"
#include "partwise/datasets/regions.h"

#include <algorithm>
#include <array>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderEnd = "_obj";

struct Animal {
  const char* synset;
  const char* name;
};

// The thirty categories in the paper's order.
constexpr std::array<Animal, 30> kAnimals{{
    {"n01443537", "goldfish"}, {"n01503061", "bird"},         {"n01639765", "frog"},
    {"n01662784", "turtle"},   {"n01674464", "lizard"},       {"n01882714", "koala"},
    {"n01982650", "lobster"},  {"n02084071", "dog"},          {"n02118333", "fox"},
    {"n02121808", "cat"},      {"n02129165", "lion"},         {"n02129604", "tiger"},
    {"n02131653", "bear"},     {"n02324045", "rabbit"},       {"n02342885", "hamster"},
    {"n02355227", "squirrel"}, {"n02374451", "horse"},        {"n02391049", "zebra"},
    {"n02395003", "swine"},    {"n02398521", "hippopotamus"}, {"n02402425", "cattle"},
    {"n02411705", "sheep"},    {"n02419796", "antelope"},     {"n02437136", "camel"},
    {"n02444819", "otter"},    {"n02454379", "armadillo"},    {"n02484322", "monkey"},
    {"n02503517", "elephant"}, {"n02509815", "red panda"},    {"n02510455", "giant panda"},
}};

// truth_part01.mat and truth_part02.mat.
constexpr std::array kParts{"head", "front legs"};

const Animal* find_animal(const std::string& synset) {
  return std::find_if(kAnimals.begin(), kAnimals.end(),
                      [&](const auto& animal) { return synset == animal.synset; });
}

// 1 to 30 for the paper's, then in order.
int64_t category_id(const std::string& synset, const ImportPlan& plan) {
  const auto* known = find_animal(synset);
  if (known != kAnimals.end()) return known - kAnimals.begin() + 1;
  return static_cast<int64_t>(kAnimals.size() + plan.categories.size()) + 1;
}

std::vector<Choice> categories_under(const fs::path& source) {
  ensure(fs::is_directory(source), "{}: expected the folder with the n*_obj folders",
         source.string());
  std::vector<Choice> found;
  for (const auto& entry : fs::directory_iterator(source)) {
    const auto name = entry.path().filename().string();
    std::error_code failure;
    if (!entry.is_directory(failure) || !name.ends_with(kFolderEnd)) continue;
    const auto synset = name.substr(0, name.size() - kFolderEnd.size());
    const auto* known = find_animal(synset);
    found.push_back({known == kAnimals.end() ? synset : known->name, synset});
  }
  ensure(!found.empty(), "{}: no folder <id>_obj here; expected the Animal-Part download",
         source.string());
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.original < b.original; });
  return found;
}

// A point of the 224 x 224 crop, whose first pixel is 1, in image coordinates.
Point image_from_crop(Point crop, const Box& box) {
  return {box.x + (crop.x - 0.5) * box.width / kTruthSide,
          box.y + (crop.y - 0.5) * box.height / kTruthSide};
}

Box region_box(const CropRegion& region, const Box& box) {
  const Point corner = image_from_crop(
      {region.centre.x - region.width / 2.0, region.centre.y - region.height / 2.0}, box);
  return {corner.x, corner.y, region.width * box.width / kTruthSide,
          region.height * box.height / kTruthSide};
}

// What the files say about one object.
struct ObjectTruth {
  Box box;
  std::array<std::vector<CropRegion>, kParts.size()> instances;
};

Objects objects_of(const ObjectTruth& truth, int64_t category, int64_t width, int64_t height) {
  Annotation object;
  object.category_id = category;
  object.bbox = truth.box;
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    std::vector<Box> boxes;
    for (const auto& instance : truth.instances[part]) {
      object.landmarks[kParts[part]].push_back(image_from_crop(instance.centre, truth.box));
      boxes.push_back(region_box(instance, truth.box));
    }
    if (!boxes.empty()) object.parts[kParts[part]] = region_of_boxes(boxes, width, height);
  }
  return {{object}, {}, {}};
}

std::vector<ObjectTruth> read_objects(const fs::path& file) {
  const auto samples = formats::read_matlab(file, "samples");
  std::vector<ObjectTruth> objects;
  for (int64_t i = 0; i < samples.count(); ++i) {
    const auto box = inclusive_box(samples.field("obj", i).field("bndbox"));
    objects.push_back({box_from_inclusive(box), {}});
  }
  return objects;
}

// Adds the truth files' parts; gives the names of those the category has.
std::vector<std::string> read_parts(const fs::path& source,
                                    const std::string& synset,
                                    std::vector<ObjectTruth>& objects,
                                    ImportPlan& plan) {
  std::vector<std::string> names;
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    const auto place = fmt::format("truth/{}/truth_part{:02}.mat", synset, part + 1);
    const auto file = source / place;
    if (!fs::exists(file)) continue;
    plan.truth_files[place] = file;
    const auto records = read_truth_file(file);
    ensure(records.size() == objects.size(), "{}: describes {} objects, data.mat {}", file.string(),
           records.size(), objects.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      objects[i].instances[part] = records[i].instances;
    }
    names.emplace_back(kParts[part]);
  }
  return names;
}

void plan_category(const fs::path& source, const Choice& choice, ImportPlan& plan) {
  const auto place = fs::path(choice.original + std::string(kFolderEnd)) / "img";
  const auto folder = source / place;
  plan.truth_files[(place / "data.mat").string()] = folder / "data.mat";
  auto objects = read_objects(folder / "data.mat");
  const auto names = read_parts(source, choice.original, objects, plan);
  if (names.empty()) {
    say(fmt::format("note: {}: no truth_part*.mat there; {} has no parts and no landmarks",
                    (source / "truth" / choice.original).string(), choice.name));
  }
  const int64_t id = category_id(choice.original, plan);
  plan.categories.push_back({id, choice.name, names, names});
  std::set<fs::path> described;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    auto& image = plan.images.emplace_back();
    const auto name = fmt::format("{:05}.jpg", i + 1);
    described.insert(name);
    image.source = folder / "img" / name;
    image.file_name = fmt::format("images/{}/{}", choice.original, name);
    image.stratum = id;
    image.objects = [truth = objects[i], id](int64_t width, int64_t height) {
      return objects_of(truth, id, width, height);
    };
  }
  name_others(folder / "img", described, kFileElsewhere, "data.mat describes no object of it",
              plan);
}

}  // namespace

ImportPlan plan_animal_part(const fs::path& source, std::span<const std::string> asked) {
  const auto offered = categories_under(source);
  const auto wanted = chosen(offered, asked);
  ImportPlan plan;
  Progress progress("reading annotations", static_cast<int64_t>(offered.size()), "categories");
  for (std::size_t i = 0; i < offered.size(); ++i) {
    if (interrupt_requested()) throw Interrupted("interrupted; nothing is written yet");
    if (wanted[i]) plan_category(source, offered[i], plan);
    progress.advance();
  }
  if (fs::is_directory(source / "neg")) {
    plan_negatives(source / "neg", plan);
  } else {
    say(fmt::format("note: {}: not there; negatives come from --negatives alone",
                    (source / "neg").string()));
  }
  return plan;
}

}  // namespace partwise::datasets
