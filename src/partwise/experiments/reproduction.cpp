#include "partwise/experiments/reproduction.h"

#include "partwise/base/files.h"
#include "partwise/base/folder_claim.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/experiments/machine.h"
#include "partwise/experiments/outcome.h"
#include "partwise/findings/findings_file.h"
#include "partwise/judging/dissection.h"
#include "partwise/judging/outdated_findings.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/models/run_data.h"
#include "partwise/training/trainer.h"

#include <cctype>
#include <set>

namespace partwise::experiments {
namespace {

namespace fs = std::filesystem;

// Only letters and digits, in lower case: vgg-16, VGG16 and vgg_16 are one net.
std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

bool is_weights_file(const fs::path& path) {
  const auto ending = path.extension();
  return ending == ".safetensors" || ending == ".pth" || ending == ".pt" || ending == ".mat";
}

// The weights a net starts from: `init` itself where it is a file or a run, else the file in that
// folder named after the net.
std::string weights_of(const std::string& net, const std::string& init) {
  if (init.empty() || !fs::is_directory(init) || fs::exists(fs::path(init) / "options.json"))
    return init;
  std::vector<std::string> fitting;
  for (const auto& entry : fs::directory_iterator(init)) {
    if (is_weights_file(entry.path()) &&
        plain_name(entry.path().stem().string()) == plain_name(net))
      fitting.push_back(entry.path().string());
  }
  ensure(!fitting.empty(), "{}: has no file named after net {} (as in {}.safetensors)", init, net,
         net);
  ensure(fitting.size() == 1, "{}: several files are named after net {}: {}", init, net,
         join(fitting));
  return fitting.front();
}

// The config file of a net: {net} in its name stands for the net.
training::Recipe recipe_for(const Cell& cell, const GridRequest& request) {
  auto own = request.recipe;
  const std::string placeholder = "{net}";
  if (const auto at = own.config.find(placeholder); at != std::string::npos)
    own.config.replace(at, placeholder.size(), cell.net);
  own.given.update({{"net", cell.net},
                    {"arm", cell.arm},
                    {"task", cell.task()},
                    {"loss", cell.loss},
                    {"seed", cell.seed}});
  if (!request.init.empty()) own.given["init"] = weights_of(cell.net, request.init);
  return recipe_of(own);
}

// A grid's folder is recognised by grid.json and belongs to one dataset; anything else that is in
// the way stays as it is.
void claim_grid_folder(const fs::path& out, const nlohmann::json& manifest) {
  const auto marker = out / "grid.json";
  if (fs::exists(marker)) {
    const auto there = read_json(marker);
    const auto said = [&](const char* key) {
      return there.is_object() ? there.value(key, nlohmann::json()) : nlohmann::json();
    };
    ensure(said("data_hash") == manifest.at("data_hash"),
           "{}: holds a grid on other data ({}); choose another --out", out.string(),
           said("data").is_string() ? said("data").get<std::string>()
                                    : "grid.json does not say which");
    make_writable_folder(out);
    remove_abandoned_writes(out);
    return;
  }
  claim_folder(out, "grid.json", manifest, "a grid's folder");
}

// What `measure --metrics` calls it; "": always measured.
std::string extra_of(const Metric& metric) {
  return metrics::find_metric(metric.key)->option;
}

// A grid at work.
class Grid {
 public:
  Grid(const GridRequest& request, const PaperTable& table)
      : request_(request), table_(table), dataset_(datasets::load_dataset(request.data)) {
    std::vector<std::string> categories;
    for (const auto& category : dataset_.categories) categories.push_back(category.name);
    cells_ = grid_cells(table, request.selection, categories);
    for (const auto& cell : cells_) {  // impossible ones are refused before anything is written
      recipes_.push_back(recipe_for(cell, request));
      training::require_trainable(recipes_.back(), dataset_);
    }
    measure_.split = request.split;
    measure_.measures.bootstrap = request.bootstrap;
    measure_.measures.bootstrap.threads = request.machine.threads;
    std::set<std::string> extras;
    for (const auto& metric : table.metrics) {
      if (!extra_of(metric).empty()) extras.insert(extra_of(metric));
    }
    measure_.measures.extras = {extras.begin(), extras.end()};
  }

  std::vector<CellState> list() const {
    std::vector<CellState> states;
    for (std::size_t i = 0; i < cells_.size(); ++i) states.push_back({cells_[i], progress_of(i)});
    return states;
  }

  // All cells that are not finished yet; one that fails is named and the rest go on.
  void run() {
    const Abandonable abandonable("interrupted; the same command goes on");
    const auto resources = start_session(request_.machine);
    const auto manifest = make_manifest(dataset_);
    require_weights();
    claim_grid_folder(request_.out, manifest);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const auto label = fmt::format("[{}/{}] {}", i + 1, cells_.size(), name_of(cells_[i]));
      try {
        run_cell(i, label, manifest, resources);
      } catch (const Error& error) {
        say(fmt::format("{}: {}", label, error.what()));
        failed_.push_back(name_of(cells_[i]));
      }
      write_tables();
    }
  }

  std::string write_tables() const {
    const auto lines = compare_with_paper(table_, done_);
    const auto remarks = notes();
    const auto place = fs::path(request_.out) / table_.name;
    const auto text = outcome_markdown(table_, lines, remarks);
    write_file_atomically(place.string() + ".md", text);
    write_json_atomically(place.string() + ".json", outcome_json(table_, lines, remarks));
    return text;
  }

  const std::vector<std::string>& failed() const { return failed_; }

 private:
  // Trained to its end, and measured since.
  bool finished(const training::Run& run) const {
    const auto findings = findings::read_findings(run.folder);
    if (!findings || !judging::are_as_asked(run.folder, *findings, measure_)) return false;
    const bool early = findings->moment && findings->moment->epoch < run.recipe.train.epochs;
    if (early && !training::is_trained(run)) return false;
    return std::all_of(table_.metrics.begin(), table_.metrics.end(), [&](const auto& metric) {
      return extra_of(metric).empty() || find_finding(*findings, metric);
    });
  }

  CellProgress progress_of(std::size_t index) const {
    const auto folder = fs::path(request_.out) / folder_of(cells_[index]);
    if (!fs::exists(folder / "options.json")) return CellProgress::open;
    const training::Run run{runs::RunFolder::open(folder), recipes_[index]};
    return finished(run) ? CellProgress::finished : CellProgress::begun;
  }

  // Weights that new cells start from and that cannot be had are an Error.
  void require_weights() const {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (progress_of(i) == CellProgress::open && seen.insert(recipes_[i].train.init).second)
        training::require_init(recipes_[i].train);
    }
  }

  void run_cell(std::size_t index,
                const std::string& label,
                const nlohmann::json& manifest,
                const models::Resources& resources) {
    const auto folder = fs::path(request_.out) / folder_of(cells_[index]);
    const auto run = training::claim_run(folder, recipes_[index], manifest);
    findings::settle_findings(run.folder);
    if (!finished(run)) {
      models::hold_to_its_data(run.folder, dataset_, true);  // changed data was refused just now
      if (!training::is_trained(run)) {
        say(label + ": training ...");
        training::train(run, dataset_, resources);
      }
      say(label + ": measuring ...");
      judging::measure_run(run.folder, dataset_, measure_, resources);
    }
    done_.push_back({cells_[index], findings::require_findings(run.folder)});
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes{fmt::format("{} of {} cells are finished; split {}.",
                                               done_.size(), cells_.size(), request_.split)};
    for (const auto& name : failed_) notes.push_back("Failed: " + name + ".");
    for (const auto& metric : table_.metrics) {
      const bool measured = std::any_of(done_.begin(), done_.end(), [&](const auto& cell) {
        return find_finding(cell.findings, metric);
      });
      if (!done_.empty() && !measured)
        notes.push_back(fmt::format("{} is left out: it was not measured.", metric.key));
    }
    if (request_.recipe.config.empty())
      notes.emplace_back("Trained with the default options: see configs/README.md for others.");
    return notes;
  }

  const GridRequest& request_;
  const PaperTable& table_;
  datasets::PartDataset dataset_;
  std::vector<Cell> cells_;
  std::vector<training::Recipe> recipes_;
  judging::MeasureOptions measure_;
  std::vector<FinishedCell> done_;
  std::vector<std::string> failed_;
};

void require_possible(const GridRequest& request) {
  const auto& table = find_table(request.table);
  for (const auto& net : request.selection.nets)
    index_of_name("net", net, networks::network_names());
  for (const auto& arm : request.selection.arms) from_word<networks::Arm>("arm", arm);
  ensure(!request.data.empty(), "{} needs --data, from {}", table.name, table.data);
  ensure(!request.out.empty(), "--out: say where the grid's runs and tables go");
}

}  // namespace

std::vector<CellState> list_grid(const GridRequest& request) {
  require_possible(request);
  return Grid(request, find_table(request.table)).list();
}

GridOutcome run_grid(const GridRequest& request) {
  require_possible(request);
  Grid grid(request, find_table(request.table));
  grid.run();
  return {grid.write_tables(), grid.failed()};
}

}  // namespace partwise::experiments
