#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/cli/command.h"
#include "partwise/cli/session.h"
#include "partwise/cli/version.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/images/codec.h"
#include "partwise/judging/dissection.h"
#include "partwise/report/report.h"
#include "partwise/report/terminal.h"
#include "partwise/training/trainer.h"
#include "partwise/views/heat_map.h"

#include <chrono>

namespace partwise::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  int64_t images = 900;
  int64_t categories = 6;
  int64_t size = 128;
  int64_t epochs = 6;
  int64_t pretraining_images = 600;
  int64_t pretraining_epochs = 8;
  int64_t seed = 1;

  static auto fields() {
    using Count = Field<DemoOptions, int64_t>;
    return std::tuple{
        Count{"images", &DemoOptions::images, "images per category", 8, 100'000},
        Count{"categories", &DemoOptions::categories, "how many kinds of animals", 2, 6},
        Count{"size", &DemoOptions::size, "side of the images, px", 64, 1024},
        Count{"epochs", &DemoOptions::epochs, "passes of each arm over its training images", 1,
              10'000},
        Count{"pretraining_images", &DemoOptions::pretraining_images,
              "other images per category, for the common backbone", 8, 100'000},
        Count{"pretraining_epochs", &DemoOptions::pretraining_epochs, "passes over those", 1,
              10'000},
        Count{"seed", &DemoOptions::seed, "everything follows from it", 0},
    };
  }
};

struct Flags {
  std::string out = "partwise-demo";
  bool quick = false;
  nlohmann::json given = nlohmann::json::object();
  Common common;
};

// A demo folder is recognised by demo.json; anything else that is in the way stays as it is.
void claim_folder(const fs::path& out, const nlohmann::json& options) {
  const auto marker = out / "demo.json";
  if (fs::exists(marker)) {
    const auto there = read_json(marker);
    ensure(there == options,
           "{}: holds a demo with other options ({}); choose another --out or remove it",
           out.string(), there.dump());
    make_writable_folder(out);
    return;
  }
  remove_abandoned_writes(out);  // a killed demo may have got no further
  const bool occupied = fs::exists(out) && (!fs::is_directory(out) || !fs::is_empty(out));
  ensure(!occupied, "{}: exists and is not a demo folder; choose another --out", out.string());
  make_writable_folder(out);
  write_json_atomically(marker, options);
}

void draw_sheet(const DemoOptions& options, const fs::path& path) {
  constexpr int64_t kColumns = 8;
  std::vector<images::Image> pictures;
  for (int64_t category = 0; category < options.categories; ++category) {
    for (int64_t i = 0; i < kColumns; ++i) {
      pictures.push_back(datasets::draw_scene(category, i, options.size, options.seed).image);
    }
  }
  write_file_atomically(path, images::encode_png(views::contact_sheet(pictures, kColumns, 4)));
}

// {"arms": {arm: {metrics}}, "seconds": s}: each metric at the layer where the method's claim lies,
// and all layers below it.
nlohmann::json summary_of(const std::vector<findings::RunFindings>& found, double seconds) {
  auto arms = nlohmann::json::object();
  for (const auto& run : found) {
    auto findings = to_json(run);
    auto& layers = findings["layers"];
    for (auto& layer : layers) layer.erase("cards");
    const auto& first = layers.front();
    const auto& last = layers.back();
    arms[findings["arm"].get<std::string>()] = {
        {"accuracy", findings["accuracy"]},
        {"balanced_accuracy", findings["balanced_accuracy"]},
        {"purity", first["purity"]},
        {"part_interpretability", last["part_interpretability"]},
        {"location_instability", last["location_instability"]},
        {"instability_ratio", last["instability_ratio"]},
        {"layers", layers}};
  }
  return {{"arms", arms}, {"seconds", seconds}};
}

constexpr double kTestShare = 2.0 / 9.0;

datasets::PartDataset draw(const fs::path& folder,
                           const DemoOptions& options,
                           bool pretraining,
                           int threads) {
  datasets::SyntheticOptions drawing;
  drawing.images = pretraining ? options.pretraining_images : options.images;
  drawing.categories = options.categories;
  drawing.size = options.size;
  drawing.test_share = pretraining ? 0.0 : kTestShare;
  const uint64_t seed = static_cast<uint64_t>(options.seed);
  drawing.seed = pretraining ? static_cast<int64_t>(derive_seed({seed, 1}) >> 1U) : options.seed;
  return datasets::write_synthetic_animals(folder, drawing, threads);
}

// What every arm starts from, as the paper's arms start from a net trained on other images.
void pretrain(const fs::path& out, const DemoOptions& options, const models::Resources& resources) {
  const auto data = out / "pretraining-data";
  const auto dataset = draw(data, options, true, resources.threads);
  training::Recipe recipe;
  recipe.train.arm = "ordinary";
  recipe.train.epochs = options.pretraining_epochs;
  recipe.train.seed = options.seed;
  const auto run =
      training::claim_run(out / "runs" / "backbone", recipe, make_manifest(data.string()));
  if (!training::is_trained(run)) {
    say("training the common backbone on other images ...");
    training::train(run, dataset, resources);
  }
}

runs::RunFolder run_arm(const fs::path& out,
                        const std::string& arm,
                        const DemoOptions& options,
                        const datasets::PartDataset& dataset,
                        const models::Resources& resources) {
  training::Recipe recipe;
  recipe.train.arm = arm;
  recipe.train.init = (out / "runs" / "backbone").string();
  recipe.train.epochs = options.epochs;
  recipe.train.seed = options.seed;
  const auto run =
      training::claim_run(out / "runs" / arm, recipe, make_manifest((out / "data").string()));
  if (!training::is_trained(run)) {
    say(fmt::format("training {} ...", arm));
    training::train(run, dataset, resources);
  }
  if (!findings::read_findings(run)) {
    say(fmt::format("measuring {} ...", arm));
    judging::MeasureOptions measure;
    measure.measures.bootstrap.threads = resources.threads;
    judging::measure_run(run, dataset, measure, resources);
  }
  return run;
}

void demo_command(const Flags& flags) {
  const auto start = std::chrono::steady_clock::now();
  DemoOptions options;
  if (flags.quick) {
    options.images = 180;
    options.epochs = 5;
    options.pretraining_images = 250;
    options.pretraining_epochs = 5;
  }
  merge_json(options, flags.given, "command line");
  const fs::path out = flags.out;
  const auto resources = start_session(flags.common);
  claim_folder(out, to_json(options));

  say("drawing synthetic animals ...");
  const auto dataset = draw(out / "data", options, false, resources.threads);
  draw_sheet(options, out / "animals.png");
  pretrain(out, options, resources);
  std::vector<runs::RunFolder> runs;
  for (const auto& arm : networks::arm_names()) {
    runs.push_back(run_arm(out, arm, options, dataset, resources));
  }

  std::vector<findings::RunFindings> found;
  for (const auto& run : runs) found.push_back(findings::require_findings(run));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  write_json_atomically(out / "summary.json", summary_of(found, seconds.count()));
  const auto html = out / "report.html";
  report::write_report(runs,
                       {{"title", "Which parts of the animal does the network use?"},
                        {"command", fmt::format("partwise demo --seed {}{}", options.seed,
                                                flags.quick ? " --quick" : "")},
                        {"seconds", seconds.count()},
                        {"seed", options.seed},
                        {"dataset",
                         {{"name", "synthetic animals"},
                          {"images", dataset.images.size()},
                          {"sheet", (out / "animals.png").string()}}}},
                       html);
  fmt::print("{}\nreport   {}\nsummary  {}\ntime     {}\n", report::findings_table(found),
             fs::absolute(html).string(), fs::absolute(out / "summary.json").string(),
             readable_duration(seconds.count()));
}

}  // namespace

void add_demo(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto* command =
      add_command(app, "demo",
                  "The main job on built-in data: draw animals, train the four arms, measure them, "
                  "write report.html and summary.json. Run again, it goes on where it stopped.",
                  "partwise demo --seed 1");
  command->add_option("--out", flags->out, "folder to write")->capture_default_str();
  command->add_flag("--quick", flags->quick, "less data, fewer epochs: about two minutes");
  add_fields<DemoOptions>(*command, flags->given);
  add_common(*command, flags->common);
  command->callback([flags] { demo_command(*flags); });
}

}  // namespace partwise::cli
