// The accounting invariant on real photographs: what the originals hold, counted without the
// importers, is kept or named; so it is when they are damaged.
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/import/import.h"
#include "partwise/datasets/import/voc_merges.h"
#include "partwise/formats/matlab_fixture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Amount {
  int64_t files = 0;
  int64_t objects = 0;
  int64_t landmarks = 0;  // names of landmarks, each once per object
  int64_t parts = 0;      // likewise

  void add(const Amount& more) {
    files += more.files;
    objects += more.objects;
    landmarks += more.landmarks;
    parts += more.parts;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("files {}, objects {}, landmarks {}, parts {}", files, objects, landmarks,
                       parts);
  }
};

// What an original holds: each image by its name in the dataset, and what belongs to none.
struct Original {
  std::map<std::string, Amount> images;
  Amount nowhere;

  Amount& image(const std::string& name) {
    auto& amount = images[name];
    amount.files = 1;
    return amount;
  }
  [[nodiscard]] Amount whole() const {
    auto sum = nowhere;
    for (const auto& [name, amount] : images) sum.add(amount);
    return sum;
  }
};

std::vector<fs::path> files_under(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(folder));
  }
  return files;
}

// Lines of a table, each as its words.
std::vector<std::vector<std::string>> rows_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    rows.emplace_back(std::istream_iterator<std::string>(words),
                      std::istream_iterator<std::string>());
  }
  return rows;
}

Original count_animal_part(const fs::path& source) {
  Original original;
  for (const auto& entry : fs::directory_iterator(source)) {
    const auto folder = entry.path().filename().string();
    if (!folder.ends_with("_obj")) continue;
    const auto synset = folder.substr(0, folder.find('_'));
    const auto name = [&](const std::string& file) { return "images/" + synset + "/" + file; };
    const auto objects = formats::read_matlab(entry.path() / "img/data.mat", "samples").count();
    for (int64_t i = 0; i < objects; ++i)
      original.image(name(fmt::format("{:05}.jpg", i + 1))).objects = 1;
    for (const auto* file : {"truth_part01.mat", "truth_part02.mat"}) {
      const auto truth = formats::read_matlab(source / "truth" / synset / file, "truth");
      for (int64_t i = 0; i < truth.count(); ++i) {
        if (truth.field("pHW_center", i).empty()) continue;
        auto& amount = original.image(name(fmt::format("{:05}.jpg", i + 1)));
        ++amount.landmarks;
        ++amount.parts;
      }
    }
    for (const auto& file : files_under(entry.path() / "img/img"))
      original.image(name(file.string()));
  }
  for (const auto& file : files_under(source / "neg"))
    original.image("images/negatives/" + file.string());
  return original;
}

Original count_cub200(const fs::path& source) {
  Original original;
  std::map<std::string, std::string> names;
  for (const auto& row : rows_of(source / "images.txt")) names[row[0]] = "images/" + row[1];
  for (const auto& [id, name] : names) original.image(name).objects = 1;
  std::set<std::pair<std::string, std::string>> visible;
  for (const auto& row : rows_of(source / "parts/part_locs.txt")) {
    if (row[4] == "1") visible.insert({row[0], row[1]});
  }
  for (const auto& [id, part] : visible)
    ++(names.contains(id) ? original.image(names[id]) : original.nowhere).landmarks;
  for (const auto& file : files_under(source / "images")) original.image("images/" + file.string());
  return original;
}

Original count_folder(const fs::path& source) {
  Original original;
  for (const auto& file : files_under(source))
    original.image("images/" + file.string()).objects = file.has_parent_path() ? 1 : 0;
  return original;
}

// Parts that the paper's merging leaves out are none here.
Amount count_voc_object(const std::string& voc_class, const std::set<std::string>& raw_parts) {
  const std::set<std::string> animals{"bird", "cat", "cow", "dog", "horse", "sheep"};
  Amount amount;
  amount.objects = 1;
  std::set<std::string> merged;
  for (const auto& raw : raw_parts) {
    if (const auto part = merged_part(voc_class, raw)) merged.insert(*part);
    const bool landmark = raw == "head" || raw == "neck" || raw == "torso";
    if (landmark && animals.contains(voc_class)) ++amount.landmarks;
  }
  amount.parts = std::ssize(merged);
  return amount;
}

Original count_voc_part(const fs::path& source) {
  Original original;
  for (const auto& file : files_under(source / "JPEGImages"))
    original.image("images/" + file.string());
  std::set<std::string> with_masks;
  for (const auto& file : files_under(source / "Annotations_Part")) {
    const auto name = "images/" + file.stem().string() + ".jpg";
    with_masks.insert(name);
    const auto objects =
        formats::read_matlab(source / "Annotations_Part" / file, "anno").field("objects");
    for (int64_t i = 0; i < objects.count(); ++i) {
      const auto parts = objects.field("parts", i);
      std::set<std::string> raw;
      for (int64_t part = 0; part < parts.count(); ++part)
        raw.insert(parts.field("part_name", part).text());
      original.image(name).add(count_voc_object(objects.field("class", i).text(), raw));
    }
  }
  for (const auto& [voc_class, fourth] :
       std::map<std::string, std::string>{{"bird", "beak"}, {"cat", "nose"}}) {
    const std::vector<std::string> raw{"head", "neck", "torso", fourth};
    std::map<int64_t, std::set<std::string>> parts;
    std::map<int64_t, std::string> images;
    for (std::size_t file = 0; file < raw.size(); ++file) {
      const auto truth = formats::read_matlab(
          source / "truth" / voc_class / fmt::format("truth_part{:02}.mat", file + 1), "truth");
      for (int64_t i = 0; i < truth.count(); ++i) {
        if (!truth.field("pHW_center", i).empty()) parts[i].insert(raw[file]);
        images[i];
        if (truth.field("obj", i).empty()) continue;
        images[i] = fs::path(truth.field("obj", i).field("filename").text()).filename().string();
      }
    }
    for (const auto& [i, image] : images) {
      const auto name = "images/" + image;
      if (with_masks.contains(name)) continue;  // where masks exist they win
      auto& amount = image.empty() ? original.nowhere : original.image(name);
      amount.add(count_voc_object(voc_class, parts[i]));
    }
  }
  return original;
}

Amount kept_in(const PartDataset& dataset) {
  Amount amount;
  amount.files = std::ssize(dataset.images);
  amount.objects = std::ssize(dataset.annotations);
  for (const auto& object : dataset.annotations) {
    amount.landmarks += std::ssize(object.landmarks);
    amount.parts += std::ssize(object.parts);
  }
  return amount;
}

// The number in front of " landmarks", or 1.
int64_t landmarks_told(const std::string& reason) {
  const auto end = reason.rfind(" landmarks");
  if (end == std::string::npos) return 1;
  return std::stoll(reason.substr(reason.rfind(' ', end - 1) + 1));
}

// What is named goes with all that belongs to it. An image without any usable object is named after
// its objects: those are not counted twice.
Amount named_in(const json& skipped, const Original& original) {
  Amount amount;
  for (const auto& item : skipped) {
    const std::string kind = item["kind"];
    const std::string reason = item["reason"];
    const auto found = original.images.find(item["name"]);
    // Of what belongs to no image there is one object at most that has landmarks, in a test below.
    const auto whole = found != original.images.end()  ? found->second
                       : original.nowhere.objects == 1 ? original.nowhere
                                                       : Amount{};
    if (kind == kTruthUnusable) {
      const bool part = reason.starts_with("part ");
      (part ? amount.parts : amount.landmarks) += part ? 1 : landmarks_told(reason);
    } else if (kind == kObjectUnusable) {
      // Only originals of one object per image are damaged so below.
      EXPECT_LE(whole.objects, 1) << item;
      amount.add({0, 1, whole.landmarks, whole.parts});
    } else if (kind == kNothingChosen || kind == kFileElsewhere) {
      amount.files += 1;
    } else {
      amount.add({1, whole.objects, whole.landmarks, whole.parts});
    }
  }
  return amount;
}

class RealAccounting : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("PARTWISE_REAL_DATA") == nullptr)
      GTEST_SKIP() << "PARTWISE_REAL_DATA is not set";
    if (!formats::matlab73_supported()) GTEST_SKIP() << "built without HDF5";
    data_ = std::getenv("PARTWISE_REAL_DATA");
    remove_folder(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { remove_folder(root_); }

  // The original as links to its files, some of which a test then puts others in the place of.
  fs::path linked(const fs::path& source) const {
    const auto copy = root_ / "odd";
    for (const auto& file : files_under(source)) {
      fs::create_directories((copy / file).parent_path());
      fs::create_symlink(source / file, copy / file);
    }
    return copy;
  }

  static void replace(const fs::path& file, const std::string& bytes) {
    fs::remove(file);
    write_file_atomically(file, bytes);
  }

  // Removed, emptied and cut off: three images of a folder.
  static void damage_images(const fs::path& folder) {
    auto files = files_under(folder);
    std::sort(files.begin(), files.end());
    ASSERT_GE(files.size(), 3U);
    fs::remove(folder / files[0]);
    replace(folder / files[1], "");
    const auto bytes = read_file(folder / files[2]);
    replace(folder / files[2], bytes.substr(0, bytes.size() / 2));
  }

  // Imports and compares what lies in the folder then with what was counted; gives what is named.
  Amount balanced(const std::string& format, const fs::path& source, const Original& original) {
    ImportRequest request;
    request.format = format;
    request.source = source;
    request.out = root_ / "out";
    import_dataset(request);
    const auto in = original.whole();
    const auto kept = kept_in(load_dataset(request.out));
    const auto named = named_in(read_json(request.out / "skipped.json"), original);
    auto both = kept;
    both.add(named);
    EXPECT_EQ(both.text(), in.text());
    const std::pair<const char*, Amount> columns[] = {{"in", in}, {"kept", kept}, {"named", named}};
    for (const auto& [column, amount] : columns) RecordProperty(column, amount.text());
    return named;
  }

  void refused_strictly(const std::string& format, const fs::path& source) const {
    ImportRequest request;
    request.format = format;
    request.source = source;
    request.out = root_ / "strict";
    request.strict = true;
    EXPECT_THROW(import_dataset(request), Error);
    EXPECT_FALSE(fs::exists(request.out / "dataset.json"));
  }

  // A COCO file beside the images of an imported dataset.
  fs::path write_coco(const fs::path& folder, const json& file) const {
    write_json_atomically(folder / "coco.json", file);
    return folder / "coco.json";
  }

  // The imported dataset in COCO's own words: its first instance of each landmark is a keypoint.
  static json coco_from(const fs::path& folder) {
    auto file = read_json(folder / "dataset.json");
    std::map<int64_t, std::vector<std::string>> names;
    for (auto& category : file["categories"]) {
      names[category["id"]] = category["landmarks"].get<std::vector<std::string>>();
      category["keypoints"] = category["landmarks"];
    }
    for (auto& object : file["annotations"]) {
      auto keypoints = json::array();
      for (const auto& name : names[object["category_id"]]) {
        auto point = object["landmarks"].value(name, json::array());
        if (!point.empty() && point[0].is_array()) point = point[0];
        const std::vector<double> triple =
            point.empty() ? std::vector{0.0, 0.0, 0.0} : std::vector<double>{point[0], point[1], 2};
        for (const double value : triple) keypoints.push_back(value);
      }
      object["keypoints"] = keypoints;
      object.erase("landmarks");
    }
    return file;
  }

  static Original count_coco(const json& file) {
    Original original;
    std::map<int64_t, std::string> names;
    for (const auto& image : file["images"]) {
      names[image["id"]] = "images/" + image["file_name"].get<std::string>();
      original.image(names[image["id"]]);
    }
    for (const auto& object : file["annotations"]) {
      const auto image = names.find(object["image_id"]);
      auto& amount = image == names.end() ? original.nowhere : original.image(image->second);
      ++amount.objects;
      amount.parts += std::ssize(object.value("parts", json::object()));
      for (std::size_t i = 2; i < object["keypoints"].size(); i += 3)
        amount.landmarks += object["keypoints"][i] == 2.0 ? 1 : 0;
    }
    return original;
  }

  fs::path data_;
  fs::path root_ = fs::path(testing::TempDir()) /
                   ("partwise-accounting-" +
                    std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(RealAccounting, OfAnimalPartBalances) {
  const auto source = data_ / "animal-part";
  EXPECT_EQ(balanced("animal-part", source, count_animal_part(source)).files, 0);
}

TEST_F(RealAccounting, OfCub200Balances) {
  const auto source = data_ / "cub200/CUB_200_2011";
  EXPECT_EQ(balanced("cub200", source, count_cub200(source)).files, 0);
}

TEST_F(RealAccounting, OfVocPartBalances) {
  const auto source = data_ / "voc-part";
  EXPECT_EQ(balanced("voc-part", source, count_voc_part(source)).files, 641);
}

TEST_F(RealAccounting, OfFoldersBalances) {
  const auto source = data_ / "cub200/CUB_200_2011/images";
  EXPECT_EQ(balanced("folder", source, count_folder(source)).files, 0);
}

TEST_F(RealAccounting, OfCocoBalances) {
  ImportRequest voc;
  voc.format = "voc-part";
  voc.source = data_ / "voc-part";
  voc.out = root_ / "voc";
  import_dataset(voc);
  const auto file = coco_from(voc.out);
  EXPECT_EQ(balanced("coco", write_coco(voc.out, file), count_coco(file)).files, 0);
}

TEST_F(RealAccounting, OfDamagedAnimalPartBalances) {
  const auto source = linked(data_ / "animal-part");
  for (const auto* other : {"n02121808", "n02355227", "n02402425", "n02411705"})
    fs::remove_all(source / (other + std::string("_obj")));
  const auto images = source / "n02118333_obj/img/img";
  fs::copy_file(images / "00001.jpg", images / "stray.jpg");
  damage_images(source / "neg");  // one is gone, and nobody could know of it
  const auto original = count_animal_part(source);
  damage_images(images);
  // The heads again, those of the fourth to the sixth fox far outside.
  const auto heads = source / "truth/n02118333/truth_part01.mat";
  const auto truth = formats::read_matlab(heads, "truth");
  std::vector<formats::fixture::MatlabFields> records;
  int64_t moved = 0;
  for (int64_t i = 0; i < truth.count(); ++i) {
    const auto array = [&](const char* name) {
      const auto field = truth.field(name, i);
      auto numbers = field.numbers();
      if (i >= 3 && i < 6 && name == std::string("pHW_center")) {
        moved += numbers.empty() ? 0 : 1;
        for (auto& number : numbers) number += 1e5;
      }
      return formats::fixture::matlab_numbers(static_cast<std::size_t>(field.rows()),
                                              static_cast<std::size_t>(field.columns()), numbers);
    };
    records.push_back({{"pHW_center", array("pHW_center")},
                       {"pHW_scale", array("pHW_scale")},
                       {"obj", formats::fixture::matlab_numbers(0, 0, {})}});
  }
  fs::remove(heads);
  formats::fixture::write_matlab(heads, {{"truth", formats::fixture::matlab_structs(records)}},
                                 formats::fixture::MatlabVersion::v5);
  const auto named = balanced("animal-part", source, original);
  EXPECT_EQ(named.files, 3 + 2 + 1);
  EXPECT_EQ(named.objects, 3);
  EXPECT_GT(moved, 0);
  EXPECT_GE(named.landmarks, moved);
  refused_strictly("animal-part", source);
  // Without its boxes nothing can be told about a category: refused at once.
  const auto boxes = source / "n02118333_obj/img/data.mat";
  const auto bytes = read_file(boxes);
  replace(boxes, bytes.substr(0, bytes.size() / 2));
  refused_strictly("animal-part", source);
}

TEST_F(RealAccounting, OfDamagedCub200Balances) {
  const auto source = linked(data_ / "cub200/CUB_200_2011");
  fs::copy_file(source / "images.txt", source / "images/notes.txt");
  damage_images(source / "images/017.Cardinal");
  // One bird's box and four landmarks far outside, one landmark of no image.
  const auto rewrite = [&](const char* file, const auto& change) {
    auto rows = rows_of(source / file);
    change(rows);
    std::string text;
    for (const auto& row : rows) text += fmt::format("{}\n", fmt::join(row, " "));
    replace(source / file, text);
  };
  rewrite("bounding_boxes.txt", [](auto& rows) { rows[0][1] = "90000"; });
  rewrite("parts/part_locs.txt", [](auto& rows) {
    int64_t moved = 0;
    for (std::size_t i = 15; moved < 4; ++i) {
      if (rows[i][4] != "1") continue;
      rows[i][2] = "-500";
      ++moved;
    }
    rows.push_back({"999999", "1", "3", "3", "1"});
  });
  auto original = count_cub200(source);
  for (const auto& row : rows_of(source / "images.txt")) original.image("images/" + row[1]);
  const auto named = balanced("cub200", source, original);
  EXPECT_EQ(named.files, 3 + 1 + 1);
  EXPECT_EQ(named.objects, 3 + 1);
  EXPECT_GE(named.landmarks, 4 + 1);
  refused_strictly("cub200", source);
}

TEST_F(RealAccounting, OfDamagedVocPartBalances) {
  const auto source = linked(data_ / "voc-part");
  const auto any = files_under(source / "JPEGImages").front();
  fs::copy_file(source / "JPEGImages" / any, source / "JPEGImages/stray.jpg");
  const auto original = count_voc_part(source);
  damage_images(source / "JPEGImages");
  auto masks = files_under(source / "Annotations_Part");
  std::sort(masks.begin(), masks.end());
  const auto last = source / "Annotations_Part" / masks.back();
  const auto bytes = read_file(last);
  replace(last, bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(balanced("voc-part", source, original).files, 641 + 3 + 1 + 1);
  refused_strictly("voc-part", source);
}

TEST_F(RealAccounting, OfDamagedFoldersBalances) {
  const auto source = linked(data_ / "cub200/CUB_200_2011/images");
  write_file_atomically(source / "stray.jpg", "in no class");
  write_file_atomically(source / "073.Blue_Jay/notes.txt", "no picture");
  const auto original = count_folder(source);
  damage_images(source / "017.Cardinal");
  // What is not there cannot be seen by who only looks at folders.
  auto seen = original;
  for (const auto& [name, amount] : original.images) {
    if (!fs::exists(source / fs::path(name).lexically_relative("images"))) seen.images.erase(name);
  }
  EXPECT_EQ(seen.images.size() + 1, original.images.size());
  EXPECT_EQ(balanced("folder", source, seen).files, 2 + 2);
  refused_strictly("folder", source);
}

TEST_F(RealAccounting, OfADamagedCocoFileBalances) {
  ImportRequest birds;
  birds.format = "cub200";
  birds.source = data_ / "cub200";
  birds.out = root_ / "birds";
  import_dataset(birds);
  auto file = coco_from(birds.out);
  auto& objects = file["annotations"];
  objects[40]["image_id"] = 999'999;  // its image becomes a negative
  objects[41]["bbox"][0] = 1e6;
  auto& keypoints = objects[42]["keypoints"];
  for (std::size_t i = 0; i < keypoints.size(); i += 3) keypoints[i] = -500.0;
  const auto original = count_coco(file);
  damage_images(birds.out / "images/017.Cardinal");
  const auto source = write_coco(birds.out, file);
  const auto named = balanced("coco", source, original);
  EXPECT_EQ(named.files, 3 + 1);
  EXPECT_EQ(named.objects, 3 + 1 + 1);
  refused_strictly("coco", source);
}

}  // namespace
}  // namespace partwise::datasets
