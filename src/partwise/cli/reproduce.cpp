#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/cli/recipe.h"
#include "partwise/cli/session.h"
#include "partwise/cli/version.h"
#include "partwise/experiments/outcome.h"
#include "partwise/judging/dissection.h"
#include "partwise/metrics/catalogue.h"

#include <cctype>
#include <set>

namespace partwise::cli {
namespace {

namespace fs = std::filesystem;
using experiments::Cell;
using experiments::FinishedCell;

struct Flags {
  std::string table;
  std::string data;
  std::string out;
  std::string init;
  std::string split = "test";
  bool list = false;
  experiments::Selection selection;
  RecipeFlags recipe;
  nlohmann::json measures = nlohmann::json::object();
  Common common;
};

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
training::Recipe recipe_for(const Cell& cell, const Flags& flags) {
  auto own = flags.recipe;
  const std::string placeholder = "{net}";
  if (const auto at = own.config.find(placeholder); at != std::string::npos)
    own.config.replace(at, placeholder.size(), cell.net);
  own.given.update({{"net", cell.net},
                    {"arm", cell.arm},
                    {"task", cell.task()},
                    {"loss", cell.loss},
                    {"seed", cell.seed}});
  if (!flags.init.empty()) own.given["init"] = weights_of(cell.net, flags.init);
  return recipe_of(own);
}

// A grid's folder is recognised by grid.json and belongs to one dataset; anything else that is in
// the way stays as it is.
void claim_folder(const fs::path& out, const nlohmann::json& manifest) {
  const auto marker = out / "grid.json";
  if (fs::exists(marker)) {
    const auto there = read_json(marker);
    ensure(there.value("data_hash", "") == manifest.at("data_hash").get<std::string>(),
           "{}: holds a grid on other data ({}); choose another --out", out.string(),
           there.value("data", "?"));
    make_writable_folder(out);
    return;
  }
  const bool occupied = fs::exists(out) && (!fs::is_directory(out) || !fs::is_empty(out));
  ensure(!occupied, "{}: exists and is not a grid's folder; choose another --out", out.string());
  make_writable_folder(out);
  write_json_atomically(marker, manifest);
}

// What `measure --metrics` calls it; "": always measured.
std::string extra_of(const experiments::Metric& metric) {
  return metrics::find_metric(metric.key)->option;
}

// A grid at work.
class Grid {
 public:
  Grid(const Flags& flags, const experiments::PaperTable& table)
      : flags_(flags), table_(table), dataset_(datasets::load_dataset(flags.data)) {
    std::vector<std::string> categories;
    for (const auto& category : dataset_.categories) categories.push_back(category.name);
    cells_ = experiments::grid_cells(table, flags.selection, categories);
    for (const auto& cell : cells_) {  // impossible ones are refused before anything is written
      recipes_.push_back(recipe_for(cell, flags));
      training::require_trainable(recipes_.back().train, dataset_);
    }
    measure_.split = flags.split;
    measure_.measures.bootstrap = options_from<metrics::BootstrapOptions>(flags.measures);
    measure_.measures.bootstrap.threads = flags.common.threads;
    std::set<std::string> extras;
    for (const auto& metric : table.metrics) {
      if (!extra_of(metric).empty()) extras.insert(extra_of(metric));
    }
    measure_.measures.extras = {extras.begin(), extras.end()};
  }

  void list() const {
    for (const auto& cell : cells_)
      fmt::print("{:<9} {}\n", state_of(cell), experiments::name_of(cell));
  }

  // All cells that are not finished yet; one that fails is named and the rest go on.
  void run() {
    const auto resources = start_session(flags_.common);
    const auto manifest = make_manifest(flags_.data);
    require_weights();
    claim_folder(flags_.out, manifest);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (interrupt_requested()) throw Interrupted("interrupted; the same command goes on");
      const auto label =
          fmt::format("[{}/{}] {}", i + 1, cells_.size(), experiments::name_of(cells_[i]));
      try {
        run_cell(i, label, manifest, resources);
      } catch (const Error& error) {
        say(fmt::format("{}: {}", label, error.what()));
        failed_.push_back(experiments::name_of(cells_[i]));
      }
      write_tables();
    }
  }

  std::string write_tables() const {
    const auto lines = experiments::compare_with_paper(table_, done_);
    const auto remarks = notes();
    const auto place = fs::path(flags_.out) / table_.name;
    const auto text = experiments::outcome_markdown(table_, lines, remarks);
    write_file_atomically(place.string() + ".md", text);
    write_json_atomically(place.string() + ".json",
                          experiments::outcome_json(table_, lines, remarks));
    return text;
  }

  const std::vector<std::string>& failed() const { return failed_; }

 private:
  bool finished(const runs::RunFolder& run) const {
    const auto findings = findings::read_findings(run);
    if (!findings || findings->split != flags_.split) return false;
    return std::all_of(table_.metrics.begin(), table_.metrics.end(), [&](const auto& metric) {
      return extra_of(metric).empty() || experiments::find_finding(*findings, metric);
    });
  }

  std::string state_of(const Cell& cell) const {
    const auto folder = fs::path(flags_.out) / experiments::folder_of(cell);
    if (!fs::exists(folder / "options.json")) return "open";
    return finished(runs::RunFolder::open(folder)) ? "finished" : "begun";
  }

  // Weights that new cells start from and that cannot be had are an Error.
  void require_weights() const {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (state_of(cells_[i]) == "open" && seen.insert(recipes_[i].train.init).second)
        training::require_init(recipes_[i].train);
    }
  }

  void run_cell(std::size_t index,
                const std::string& label,
                const nlohmann::json& manifest,
                const models::Resources& resources) {
    const auto folder = fs::path(flags_.out) / experiments::folder_of(cells_[index]);
    const auto run = training::claim_run(folder, recipes_[index], manifest);
    if (!finished(run)) {
      if (!training::is_trained(run)) {
        say(label + ": training ...");
        training::train(run, dataset_, resources);
      }
      say(label + ": measuring ...");
      judging::measure_run(run, dataset_, measure_, resources);
    }
    done_.push_back({cells_[index], findings::require_findings(run)});
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes{fmt::format("{} of {} cells are finished; split {}.",
                                               done_.size(), cells_.size(), flags_.split)};
    for (const auto& name : failed_) notes.push_back("Failed: " + name + ".");
    for (const auto& metric : table_.metrics) {
      const bool measured = std::any_of(done_.begin(), done_.end(), [&](const auto& cell) {
        return experiments::find_finding(cell.findings, metric);
      });
      if (!done_.empty() && !measured)
        notes.push_back(fmt::format("{} is left out: it was not measured.", metric.key));
    }
    if (flags_.recipe.config.empty())
      notes.emplace_back("Trained with the default options: see configs/README.md for others.");
    return notes;
  }

  const Flags& flags_;
  const experiments::PaperTable& table_;
  datasets::PartDataset dataset_;
  std::vector<Cell> cells_;
  std::vector<training::Recipe> recipes_;
  judging::MeasureOptions measure_;
  std::vector<FinishedCell> done_;
  std::vector<std::string> failed_;
};

void reproduce_command(const Flags& flags) {
  const auto& table = experiments::find_table(flags.table);
  for (const auto& net : flags.selection.nets) index_of_name("net", net, networks::network_names());
  for (const auto& arm : flags.selection.arms) index_of_name("arm", arm, networks::arm_names());
  ensure(!flags.data.empty(), "{} needs --data, from {}", table.name, table.data);
  ensure(!flags.out.empty(), "--out: say where the grid's runs and tables go");
  Grid grid(flags, table);
  if (flags.list) return grid.list();
  grid.run();
  fmt::print("{}", grid.write_tables());
  ensure(grid.failed().empty(), "{} cell(s) failed: {}", grid.failed().size(), join(grid.failed()));
}

}  // namespace

void add_reproduce(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto& selection = flags->selection;
  auto* command = add_command(
      app, "reproduce",
      "Train and measure the grid behind one of the paper's tables and print our numbers beside "
      "the paper's. Interrupted or run again, it goes on with what is missing.",
      "partwise reproduce voc-purity --data voc --out grid --init weights "
      "--config configs/real-photos.json");
  command->add_option("table", flags->table, "which one; a wrong name lists them")->required();
  command->add_option("--data", flags->data, "folder of the part-dataset");
  command->add_option("--out", flags->out, "folder for runs and tables");
  command->add_option("--net", selection.nets, "only these, or others than the paper's");
  command->add_option("--arm", selection.arms, "only these, or others than the paper's");
  command->add_option("--category", selection.categories, "only these, or others");
  command->add_option("--loss", selection.losses, "only these of the table's");
  command->add_option("--seeds", selection.seeds, "one training each")->capture_default_str();
  command->add_option_function<int64_t>(
      "--epochs", [flags](int64_t epochs) { flags->recipe.given["epochs"] = epochs; },
      "passes over the training images");
  command->add_option("--init", flags->init,
                      "weights to start from: a file, a run, or a folder with one file a net");
  command->add_option("--split", flags->split, "images to measure on; all: every split")
      ->capture_default_str();
  command->add_flag("--list", flags->list, "only list the cells and how far they are");
  add_recipe_flags(*command, flags->recipe);
  command->get_option("--config")
      ->description("JSON file of options; {net} in its name stands for the cell's net");
  add_fields<metrics::BootstrapOptions>(*command, flags->measures);
  add_common(*command, flags->common);
  command->callback([flags] { reproduce_command(*flags); });
}

}  // namespace partwise::cli
