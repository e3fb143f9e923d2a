#include "partwise/atlas/library.h"

#include "partwise/base/error.h"
#include "partwise/base/printable.h"
#include "partwise/base/progress.h"
#include "partwise/findings/findings_file.h"
#include "partwise/models/run_data.h"
#include "partwise/runs/run_list.h"

#include <set>

namespace partwise::atlas {
namespace {

namespace fs = std::filesystem;

std::string folder_name(const fs::path& path) {
  const auto whole = fs::absolute(path).lexically_normal();
  auto name = (whole.filename().empty() ? whole.parent_path() : whole).filename().string();
  return name.empty() ? "run" : name;
}

template <typename Options>
Options measured_with(const nlohmann::json& measured) {
  Options options;
  auto own = nlohmann::json::object();
  for_each_field<Options>([&](const auto& field) {
    if (measured.contains(field.name)) own[field.name] = measured[field.name];
  });
  merge_json(options, own, "findings.json");
  return options;
}

}  // namespace

ShownRun::ShownRun(runs::RunFolder folder, fs::path data)
    : folder_(std::move(folder)), given_data_(std::move(data)) {}

RunState ShownRun::state() const {
  if (runs::is_training(folder_.path())) return RunState::training;
  return fs::exists(folder_.path() / "findings.json") ? RunState::measured : RunState::trained;
}

std::shared_ptr<const findings::RunFindings> ShownRun::findings() const {
  std::error_code gone;
  const auto time = fs::last_write_time(folder_.path() / "findings.json", gone);
  if (gone) return nullptr;
  const std::lock_guard lock(guard_);
  if (findings_ && time == findings_time_) return findings_;
  findings_time_ = time;
  try {
    auto found = findings::read_findings(folder_);
    findings_ = found ? std::make_shared<const findings::RunFindings>(std::move(*found)) : nullptr;
  } catch (const Error& problem) {
    say(problem.what());
    findings_ = nullptr;
  }
  return findings_;
}

fs::path ShownRun::data_folder() const {
  return given_data_.empty() ? fs::path(folder_.manifest().value("data", "")) : given_data_;
}

DataStatus ShownRun::data() const {
  {
    const std::lock_guard lock(guard_);
    if (data_) return *data_;
  }
  try {
    return {folder_.data(given_data_).string(), true, ""};
  } catch (const Error& gone) {
    return {data_folder().string(), false, gone.what()};
  }
}

std::optional<datasets::PartDataset> ShownRun::find_data() {
  DataStatus status{data_folder().string(), true, ""};
  std::optional<datasets::PartDataset> dataset;
  try {
    dataset = models::data_of(folder_, given_data_);
    const auto found = findings();
    ensure(!given_data_.empty() || !found ||
               findings::was_measured_on(*found, models::data_record(*dataset)),
           "{}: is not what {} was measured on; say with --data where that lies, or measure it "
           "again: partwise measure {}",
           dataset->root.string(), id, folder_.path().string());
  } catch (const Error& problem) {
    dataset.reset();
    status = {status.folder, false, problem.what()};
    say(fmt::format("{}; {} is shown without images", status.why, id));
  }
  const std::lock_guard lock(guard_);
  data_ = std::move(status);
  return dataset;
}

AtlasRequest ShownRun::request() const {
  AtlasRequest request;
  if (const auto found = findings()) {
    if (!found->split.empty()) request.split = found->split;
    if (!found->checkpoint.empty()) request.checkpoint = found->checkpoint;
    request.interpretability = measured_with<metrics::InterpretabilityOptions>(found->options);
    request.instability = measured_with<metrics::InstabilityOptions>(found->options);
  }
  return request;
}

std::shared_ptr<RunAtlas> ShownRun::atlas() const {
  const std::lock_guard lock(guard_);
  return atlas_;
}

std::shared_ptr<RunAtlas> ShownRun::atlas_within(std::chrono::milliseconds patience) const {
  std::unique_lock lock(guard_);
  opened_.wait_for(lock, patience, [&] { return !opening_; });
  if (atlas_) return atlas_;
  ensure(opening_ || failure_.empty(), "{}", failure_);
  return nullptr;
}

std::string ShownRun::stamp() const {
  const std::lock_guard lock(guard_);
  return fmt::format("{} {}", opened_from_, edition_);
}

std::string ShownRun::files_now() const {
  const auto& run = folder_.path();
  std::string words = fs::absolute(run).string();
  for (const auto& file :
       {folder_.checkpoints(), run / "findings.json", data_folder() / "dataset.json"}) {
    std::error_code gone;
    const auto written = fs::last_write_time(file, gone);
    words += gone ? " -" : fmt::format(" {}", written.time_since_epoch().count());
  }
  return words;
}

bool ShownRun::is_outdated() const {
  const auto now = files_now();
  const std::lock_guard lock(guard_);
  return now != opened_from_;
}

bool ShownRun::is_opening() const {
  const std::lock_guard lock(guard_);
  return opening_;
}

bool ShownRun::is_learning() const {
  const std::lock_guard lock(guard_);
  return learning_;
}

void ShownRun::set_learning(bool learning) {
  const std::lock_guard lock(guard_);
  learning_ = learning;
}

void ShownRun::replace(std::shared_ptr<RunAtlas> atlas) {
  const std::lock_guard lock(guard_);
  atlas_ = std::move(atlas);
  ++edition_;
}

std::string ShownRun::failure() const {
  const std::lock_guard lock(guard_);
  return failure_;
}

void ShownRun::begin_opening() {
  auto from = files_now();
  const std::lock_guard lock(guard_);
  opening_ = true;
  opened_from_ = std::move(from);
}

void ShownRun::end_opening(std::shared_ptr<RunAtlas> atlas, std::string failure) {
  {
    const std::lock_guard lock(guard_);
    opening_ = false;
    ++edition_;
    atlas_ = std::move(atlas);
    failure_ = std::move(failure);
  }
  opened_.notify_all();
}

Library::Library(const std::vector<std::string>& folders,
                 const fs::path& data,
                 models::Resources resources,
                 std::function<void()> prepare)
    : resources_(std::move(resources)), bench_(prepare), opener_(prepare) {
  std::set<std::string> taken;
  std::multiset<std::string> arms;
  for (const auto& folder : folders) {
    auto& run = runs_.emplace_back(std::make_unique<ShownRun>(runs::RunFolder::open(folder), data));
    const auto name = folder_name(folder);
    run->id = name;
    for (int again = 2; !taken.insert(run->id).second; ++again)
      run->id = fmt::format("{}-{}", name, again);
    run->label = run->folder().options().value("arm", run->id);
    arms.insert(run->label);
  }
  for (const auto& run : runs_) {
    if (arms.count(run->label) > 1) run->label += " · " + run->id;
  }
  open_what_can_be();
}

ShownRun* Library::find(const std::string& id) const {
  for (const auto& run : runs_) {
    if (run->id == id) return run.get();
  }
  return nullptr;
}

void Library::open_what_can_be() {
  for (const auto& run : runs_) {
    if (run->is_opening() || run->is_learning()) continue;
    if ((run->atlas() || !run->failure().empty()) && !run->is_outdated()) continue;
    if (!fs::exists(run->folder().checkpoints()) || run->state() == RunState::training) continue;
    run->begin_opening();
    opener_.add([this, shown = run.get()] { open(*shown); });
  }
}

void Library::open(ShownRun& run) {
  try {
    auto atlas = std::make_shared<RunAtlas>(
        open_atlas(run.folder(), run.find_data(), run.request(), resources_));
    const bool learns = !atlas->explainer->knows_parts() && atlas->look;
    run.set_learning(learns);
    run.end_opening(std::move(atlas), "");
    if (learns) opener_.add([this, &run] { learn(run); });
  } catch (const std::exception& problem) {
    run.end_opening(nullptr, first_line(problem.what()));
  }
}

void Library::learn(ShownRun& run) {
  try {
    run.replace(std::make_shared<RunAtlas>(
        learn_parts_of(*run.atlas(), run.folder(), run.request(), resources_)));
  } catch (const std::exception& problem) {
    say(fmt::format("{}: parts not learnt ({})", run.id, first_line(problem.what())));
  }
  run.set_learning(false);
}

}  // namespace partwise::atlas
