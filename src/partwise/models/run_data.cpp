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

// Why nothing is known though nothing is seen to have changed; "": it is known.
std::string doubt_between(const nlohmann::json& then, const nlohmann::json& now) {
  if (!then.contains(kDescription) || !then.contains(kSizes))
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

datasets::PartDataset data_of(const runs::RunFolder& run, const fs::path& given) {
  const auto place = run.data(given);
  auto dataset = datasets::load_dataset(place);
  const auto& then = run.manifest();
  std::error_code gone;
  const bool its_own =
      given.empty() || fs::equivalent(given, fs::path(then.value("data", "")), gone);
  const auto now = data_record(dataset);
  if (!its_own) {
    // Another dataset, or its own in another place.
    const bool moved = then.contains(kSizes) && then.at(kSizes) == now.at(kSizes);
    if (moved && then.at(kDescription) != now.at(kDescription))
      say(
          fmt::format("note: {}: the images in {} are those it was trained on, but dataset.json "
                      "is not; going on with it, as --data says",
                      run.path().string(), place.string()));
    return dataset;
  }
  if (const auto change = change_between(then, now); !change.empty()) {
    const auto text =
        fmt::format("{}: its data, {} since it was trained", run.path().string(), change);
    ensure(!given.empty(), "{}; put it back, or say --data {} to go on with it as it is", text,
           place.string());
    say(fmt::format("note: {}; going on with it, as --data says", text));
  } else if (const auto doubt = doubt_between(then, now); !doubt.empty()) {
    say(fmt::format("note: {}: {}; whether they are the same is not known", run.path().string(),
                    doubt));
  }
  return dataset;
}

}  // namespace partwise::models
