#include "partwise/runs/run_folder.h"

#include "partwise/base/error.h"
#include "partwise/base/folder_claim.h"
#include "partwise/runs/log_scalars.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <initializer_list>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <sys/file.h>
#include <thread>
#include <utility>

namespace partwise::runs {

namespace fs = std::filesystem;

namespace {

// When the run was made, "2026-01-31T12:00:00Z", in seconds since 1970; 0 where it is not said.
double creation_time(const nlohmann::json& manifest) {
  std::tm parts{};
  std::istringstream stream(manifest.is_object() ? manifest.value("created", "") : "");
  stream >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
  return stream.fail() ? 0.0 : static_cast<double>(::timegm(&parts));
}

nlohmann::json read_object(const fs::path& path) {
  auto json = read_json(path);
  ensure(json.is_object(), "{}: damaged: expected an object, found {}; copy it back, or train anew",
         path.string(), json.type_name());
  return json;
}

// Nothing given is an object of nothing.
nlohmann::json or_empty(const nlohmann::json& json) {
  return json.is_null() ? nlohmann::json::object() : json;
}

// What two manifests say of the data, as far as both say it: an older program says less.
bool same_data(const nlohmann::json& first, const nlohmann::json& second) {
  const auto same = [&](const char* key) {
    return !first.contains(key) || !second.contains(key) || first.at(key) == second.at(key);
  };
  return same("data_hash") && same("images_hash");
}

}  // namespace

std::string first_difference(const nlohmann::json& here, const nlohmann::json& there) {
  for (const auto& [key, value] : here.items()) {
    const auto other = there.value(key, nlohmann::json());
    if (other != value)
      return fmt::format("{} is {} there and {} here", key, other.dump(), value.dump());
  }
  for (const auto& [key, value] : there.items()) {
    if (!here.contains(key)) return fmt::format("{} = {} is set there only", key, value.dump());
  }
  return "";
}

RunFolder::RunFolder(fs::path path, nlohmann::json options, nlohmann::json manifest)
    : path_(std::move(path)), options_(std::move(options)), manifest_(std::move(manifest)) {}

RunFolder RunFolder::create(const fs::path& path,
                            const nlohmann::json& given_options,
                            const nlohmann::json& given_manifest,
                            const Effective& effective) {
  const auto options = or_empty(given_options);
  const auto manifest = or_empty(given_manifest);
  if (fs::exists(path / "options.json")) {
    auto run = open(path);
    const auto there = effective(run.options_);
    const auto here = effective(options);
    ensure(there == here,
           "{}: holds a run with other options ({}); choose another folder or remove this one",
           path.string(), first_difference(here, there));
    ensure(
        same_data(run.manifest_, manifest),
        "{}: the data, {}, has changed since this run began (or is another one); go on with it as "
        "it was, or train a new run with --init {}",
        path.string(), manifest.value("data", ""), path.string());
    if (!fs::exists(path / "manifest.json")) {  // killed before it was written
      write_sealed_json(path / "manifest.json", manifest);
      run.manifest_ = manifest;
    }
    return run;
  }
  claim_folder(path, "options.json", options, "a run");
  write_sealed_json(path / "manifest.json", manifest);
  return {path, options, manifest};
}

namespace {

// What is read without a look at its kind.
void hold_to_text(const nlohmann::json& object,
                  std::initializer_list<const char*> keys,
                  const fs::path& path) {
  for (const auto* key : keys) {
    ensure(!object.contains(key) || object.at(key).is_string(),
           "{}: {} is {}, where text belongs; mend it, or train a new run", path.string(), key,
           object.value(key, nlohmann::json()).dump());
  }
}

nlohmann::json read_options(const fs::path& path) {
  auto options = read_object(path);
  hold_to_text(options, {"net", "arm", "task", "loss"}, path);
  for (const auto* key : {"epochs", "seed"}) {
    ensure(!options.contains(key) || options.at(key).is_number_integer(),
           "{}: {} is {}, where a whole number belongs; mend it, or train a new run", path.string(),
           key, options.value(key, nlohmann::json()).dump());
  }
  return options;
}

nlohmann::json read_manifest(const fs::path& path) {
  if (!fs::exists(path)) return nlohmann::json::object();
  auto manifest = read_object(path);
  hold_to_text(
      manifest,
      {"data", "data_hash", "images_hash", "images_written", "version", "commit", "created"}, path);
  const auto lengthened = manifest.value("lengthened", nlohmann::json::array());
  const bool sound =
      lengthened.is_array() &&
      std::all_of(lengthened.begin(), lengthened.end(), [](const auto& one) {
        return one.is_object() && one.value("epochs", nlohmann::json()).is_number_integer();
      });
  ensure(sound, "{}: lengthened is {}, where a list of trainings with epochs belongs; mend it",
         path.string(), lengthened.dump());
  return manifest;
}

}  // namespace

RunFolder RunFolder::open(const fs::path& path) {
  ensure(fs::is_directory(path), "{}: no such run folder", path.string());
  ensure(fs::exists(path / "options.json"), "{}: not a run (it has no options.json)",
         path.string());
  return {path, read_options(path / "options.json"), read_manifest(path / "manifest.json")};
}

fs::path RunFolder::data(const fs::path& given) const {
  if (!given.empty()) return given;
  const fs::path there = manifest_.value("data", "");
  ensure(fs::exists(there / "dataset.json"),
         "{}: its dataset is not at '{}'; say with --data where it lies", path_.string(),
         there.string());
  return there;
}

void RunFolder::append_log(const nlohmann::json& row) const {
  append_to_file(path_ / "log.jsonl", sealed(row).dump() + "\n");
  write_derived_logs();
}

// A program that watches the event file keeps it open: where possible it only grows.
void RunFolder::write_derived_logs() const {
  const auto rows = log();
  write_file_atomically(path_ / "log.csv", log_csv(rows));
  const auto events = event_file(rows, creation_time(manifest_));
  const auto path = path_ / kEventFile;
  const auto there = fs::exists(path) ? read_file(path) : std::string();
  if (events.starts_with(there)) {
    append_to_file(path, std::string_view(events).substr(there.size()));
  } else {
    write_file_atomically(path, events);
  }
}

std::vector<nlohmann::json> RunFolder::log() const {
  std::vector<nlohmann::json> rows;
  if (!fs::exists(path_ / "log.jsonl")) return rows;
  std::istringstream lines(read_file(path_ / "log.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    auto row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_discarded() && lines.eof()) break;
    ensure(row.is_object(), "{}: line {} is damaged; delete it and the lines after it",
           (path_ / "log.jsonl").string(), rows.size() + 1);
    rows.push_back(
        unsealed(std::move(row),
                 fmt::format("{}: line {}", (path_ / "log.jsonl").string(), rows.size() + 1)));
  }
  return rows;
}

void RunFolder::rewrite_log(const std::vector<nlohmann::json>& rows) const {
  std::string text;
  for (const auto& row : rows) text += sealed(row).dump() + "\n";
  write_file_atomically(path_ / "log.jsonl", text);
  write_derived_logs();
}

// Whoever looks whether a run is being trained (atlas/library.cpp) holds the lock for a moment.
RunLock::RunLock(const fs::path& run)
    : folder_(::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr int kTries = 5;
  constexpr auto kMoment = std::chrono::milliseconds(20);
  bool taken = folder_.open();
  for (int i = 0; taken && i < kTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kMoment);
    taken = ::flock(folder_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  }
  ensure(!taken, "{}: another process is training this run; wait for it, or choose another folder",
         run.string());
}

}  // namespace partwise::runs
