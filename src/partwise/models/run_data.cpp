#include "partwise/models/run_data.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/progress.h"

#include <sys/stat.h>

namespace partwise::models {
namespace {

namespace fs = std::filesystem;

constexpr auto kDescription = "data_hash";
constexpr auto kSizes = "images_hash";
constexpr auto kTimes = "images_written";

// What has changed, in words; "": nothing that can be seen.
std::string change_between(const nlohmann::json& then, const nlohmann::json& now) {
  const auto differs = [&](const char* key) {
    return then.contains(key) && then.at(key) != now.at(key);
  };
  const fs::path place = now.at("data").get<std::string>();
  if (differs(kDescription)) return (place / "dataset.json").string() + ", has changed";
  if (differs(kSizes)) return "image files in " + place.string() + ", have changed";
  return "";
}

// In what a dataset in another place is the one of then and in what not, in words; "": it is that
// one or another one altogether, as far as both say.
std::string likeness_between(const nlohmann::json& then, const nlohmann::json& now) {
  const auto same = [&](const char* key) { return then.at(key) == now.at(key); };
  if (!then.contains(kDescription) || !then.contains(kSizes) || same(kDescription) == same(kSizes))
    return "";
  return same(kSizes) ? "are of the same sizes as those it was trained on, but dataset.json is "
                        "another"
                      : "are of other sizes than those it was trained on, though dataset.json is "
                        "the same";
}

// Why nothing is known though nothing is seen to have changed; "": it is known.
std::string doubt_between(const nlohmann::json& then, const nlohmann::json& now) {
  if (!then.contains(kDescription) || !then.contains(kSizes) || !then.contains(kTimes))
    return "an older program made it, and recorded no image files";
  if (then.at(kTimes) != now.at(kTimes))
    return "image files of its data were written anew since, in the same sizes";
  return "";
}

}  // namespace

nlohmann::json data_record(const datasets::PartDataset& dataset) {
  std::string sizes;
  std::string times;
  for (const auto& image : dataset.images) {
    struct stat status {};
    const bool there = ::stat((dataset.root / image.file_name).c_str(), &status) == 0;
    sizes += fmt::format("{} ", there ? status.st_size : -1);
    times += fmt::format("{}.{} ", status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return {{"data", fs::absolute(dataset.root).lexically_normal().string()},
          {kDescription, content_hash(read_file(dataset.root / "dataset.json"))},
          {kSizes, content_hash(sizes)},
          {kTimes, content_hash(times)}};
}

bool is_its_own(const runs::RunFolder& run, const datasets::PartDataset& dataset) {
  std::error_code gone;
  return fs::equivalent(dataset.root, fs::path(run.manifest().value("data", "")), gone);
}

bool is_as_it_was_trained_on(const runs::RunFolder& run, const datasets::PartDataset& dataset) {
  const auto then = run.manifest().value(kDescription, "");
  return then.empty() ? is_its_own(run, dataset)
                      : then == content_hash(read_file(dataset.root / "dataset.json"));
}

void hold_to_its_data(const runs::RunFolder& run,
                      const datasets::PartDataset& dataset,
                      bool named) {
  const auto& then = run.manifest();
  const auto now = data_record(dataset);
  const auto note = [&](const std::string& words) {
    say(fmt::format("note: {}: {}", run.path().string(), words));
  };
  if (!is_its_own(run, dataset)) {
    if (const auto likeness = likeness_between(then, now); !likeness.empty())
      note(fmt::format("the images in {} {}; going on with them", dataset.root.string(), likeness));
  } else if (const auto change = change_between(then, now); !change.empty()) {
    const auto text = fmt::format("its data, {} since it was trained", change);
    ensure(named, "{}: {}; put it back, or say --data {} to go on with it as it is",
           run.path().string(), text, dataset.root.string());
    note(text + "; going on with it, as --data says");
  } else if (const auto doubt = doubt_between(then, now); !doubt.empty()) {
    note(doubt + "; whether they are the same is not known");
  }
}

datasets::PartDataset data_of(const runs::RunFolder& run, const fs::path& given) {
  auto dataset = datasets::load_dataset(run.data(given));
  hold_to_its_data(run, dataset, !given.empty());
  return dataset;
}

}  // namespace partwise::models
