#include "partwise/experiments/explain_images.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/datasets/crops.h"
#include "partwise/experiments/file_stems.h"
#include "partwise/explaining/explanation_picture.h"
#include "partwise/images/codec.h"
#include "partwise/models/examples.h"
#include "partwise/report/explained_page.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace partwise::experiments {
namespace {

namespace fs = std::filesystem;

// One object to explain: a file, and where in it.
struct Wanted {
  fs::path file;
  std::optional<Box> box;  // nothing: the whole image
  int64_t number = 0;      // of several objects in one image; 0: the only one
};

bool is_picture_name(const fs::path& path) {
  auto ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

// What cannot be looked into is a problem of its own; the others are explained all the same.
std::vector<fs::path> pictures_below(const fs::path& folder, std::vector<std::string>& problems) {
  std::vector<fs::path> files;
  const auto add_problem = [&](const fs::path& place, const std::error_code& failure) {
    problems.push_back(fmt::format("{}: {}", place.string(), failure.message()));
  };
  std::error_code failure;
  auto entry = fs::recursive_directory_iterator(folder, failure);
  if (failure) add_problem(folder, failure);
  for (; entry != fs::recursive_directory_iterator(); ++entry) {
    const auto status = entry->status(failure);
    if (fs::is_regular_file(status) && is_picture_name(entry->path())) {
      files.push_back(entry->path());
    } else if (fs::is_directory(status) && !entry->is_symlink()) {
      fs::directory_iterator(entry->path(), failure);
      if (failure) entry.disable_recursion_pending();
    } else if (!is_picture_name(entry->path())) {
      failure.clear();
    }
    if (failure) add_problem(entry->path(), failure);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The boxes a dataset knows, by the image's place on disk.
std::map<fs::path, std::vector<Box>> boxes_by_file(const datasets::PartDataset& dataset) {
  std::map<int64_t, fs::path> file_of;
  for (const auto& image : dataset.images)
    file_of[image.id] = fs::weakly_canonical(dataset.root / image.file_name);
  std::map<fs::path, std::vector<Box>> boxes;
  for (const auto& [id, file] : file_of) boxes[file];
  for (const auto& object : dataset.annotations)
    boxes[file_of.at(object.image_id)].push_back(object.bbox);
  return boxes;
}

class Wishes {
 public:
  Wishes(const ExplainRequest& request, std::vector<std::string>& problems)
      : request_(request), problems_(problems) {
    if (!request.data.empty()) {
      dataset_ = datasets::load_dataset(request.data);
      boxes_ = boxes_by_file(*dataset_);
    }
  }

  std::vector<Wanted> all() {
    std::vector<Wanted> wanted;
    const auto add = [&](const fs::path& file) {
      for (auto& one : objects_in(file)) wanted.push_back(std::move(one));
    };
    for (const auto& name : request_.images) {
      if (!fs::is_directory(name)) {
        add(name);
        continue;
      }
      const auto files = pictures_below(name, problems_);
      if (files.empty())
        problems_.push_back(fmt::format(
            "{}: a folder without JPEG or PNG files; name images or a folder of them", name));
      for (const auto& file : files) add(file);
    }
    if (request_.images.empty() && dataset_) {
      std::set<int64_t> seen;
      for (const auto& sample : datasets::samples_of_split(*dataset_, request_.split, false)) {
        if (!seen.insert(sample.image_index).second) continue;
        add(dataset_->root /
            dataset_->images[static_cast<std::size_t>(sample.image_index)].file_name);
      }
    }
    return wanted;
  }

 private:
  std::vector<Wanted> objects_in(const fs::path& file) const {
    if (request_.box) return {{file, request_.box}};
    const auto known = boxes_.find(fs::weakly_canonical(file));
    if (known == boxes_.end() || known->second.empty()) return {{file, std::nullopt}};
    if (known->second.size() == 1) return {{file, known->second.front()}};
    std::vector<Wanted> objects;
    for (const auto& box : known->second)
      objects.push_back({file, box, static_cast<int64_t>(objects.size()) + 1});
    return objects;
  }

  const ExplainRequest& request_;
  std::vector<std::string>& problems_;
  std::optional<datasets::PartDataset> dataset_;
  std::map<fs::path, std::vector<Box>> boxes_;
};

std::string stem_of(const Wanted& wanted) {
  const auto stem = wanted.file.stem().string();
  return wanted.number > 0 ? fmt::format("{}-{}", stem, wanted.number) : stem;
}

std::string signed_logits(double value, double error) {
  return error > 0.0 ? fmt::format("{:+.2f} ± {:.2f}", value, error)
                     : fmt::format("{:+.2f}", value);
}

report::ExplainedObject for_page(const std::string& name,
                                 const explaining::Explanation& of,
                                 const std::string& png) {
  report::ExplainedObject object{name,
                                 explaining::explanation_line(of),
                                 explaining::evidence_words(of),
                                 explaining::completeness_words(of),
                                 of.weak(),
                                 of.other,
                                 png,
                                 {}};
  for (const auto& part : of.parts) {
    object.parts.push_back(
        {part.name,
         of.evidence() > 0.0 ? fmt::format("{:.1f} %", 100.0 * part.share / of.evidence()) : "–",
         signed_logits(part.share, part.error), signed_logits(part.contrast, part.contrast_error),
         fmt::format("{:+.2f}", part.silenced)});
  }
  return object;
}

}  // namespace

ExplainOutcome explain_images(const ExplainRequest& request,
                              const Machine& machine,
                              const std::function<void(const ExplainedFile&)>& tell) {
  ensure(!request.images.empty() || !request.data.empty(),
         "nothing to explain: name images, a folder of them, or a dataset (--data)");
  ExplainOutcome outcome;
  const auto run = runs::RunFolder::open(request.run);
  const auto resources = start_session(machine);
  const auto wanted = Wishes(request, outcome.problems).all();
  explaining::provide_part_book(run, {}, resources, request.checkpoint);
  const explaining::Explainer explainer(run, request.checkpoint, resources.device);
  const bool made = !fs::exists(request.out);
  make_writable_folder(request.out);
  FileStems stems;
  std::vector<report::ExplainedObject> page;
  Progress progress("explaining", std::ssize(wanted), "objects");
  for (const auto& one : wanted) {
    const Abandonable abandonable(fmt::format("interrupted; {} explanations are in {}",
                                              outcome.objects.size(), request.out.string()));
    try {
      ensure(fs::exists(one.file), "{}: no such file", one.file.string());
      const auto photo = images::read_image(one.file);
      const Box whole{0.0, 0.0, static_cast<double>(photo.width),
                      static_cast<double>(photo.height)};
      explaining::Explanation explanation;
      try {
        explanation = explainer.explain(photo, one.box.value_or(whole), {request.against});
      } catch (const Error& problem) {
        throw Error(fmt::format("{}: {}", one.file.string(), problem.what()));
      }
      const auto stem = stems.take(stem_of(one));
      auto& object = outcome.objects.emplace_back();
      object.name = one.number > 0
                        ? fmt::format("{}, object {}", one.file.filename().string(), one.number)
                        : one.file.filename().string();
      object.line = explaining::explanation_line(explanation);
      object.picture = request.out / (stem + ".png");
      const auto png = images::encode_png(
          explaining::explanation_picture(photo, explanation, object.name).image(1.5));
      write_file_atomically(object.picture, png);
      object.json = {{"image", one.file.string()}, {"run", request.run}};
      object.json.update(explaining::to_json(explanation));
      write_json_atomically(request.out / (stem + ".json"), object.json);
      if (!request.html.empty()) page.push_back(for_page(object.name, explanation, png));
      tell(object);
    } catch (const Error& problem) {
      outcome.problems.emplace_back(problem.what());
      say(fmt::format("not explained: {}", problem.what()));
    }
    progress.advance();
  }
  if (!request.html.empty())
    report::write_explained_page("Which parts decided", page, outcome.problems, request.html);
  std::error_code is_not_empty;
  if (made && outcome.objects.empty()) fs::remove(request.out, is_not_empty);
  return outcome;
}

}  // namespace partwise::experiments
