#include "partwise/experiments/demo.h"

#include "partwise/base/files.h"
#include "partwise/base/folder_claim.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/experiments/draw_figure.h"
#include "partwise/experiments/explain_for_report.h"
#include "partwise/experiments/machine.h"
#include "partwise/explaining/part_book.h"
#include "partwise/findings/findings_file.h"
#include "partwise/images/codec.h"
#include "partwise/judging/dissection.h"
#include "partwise/judging/outdated_findings.h"
#include "partwise/report/report.h"
#include "partwise/training/trainer.h"
#include "partwise/views/heat_map.h"

#include <chrono>

namespace partwise::experiments {
namespace {

namespace fs = std::filesystem;

// A demo folder is recognised by demo.json; anything else that is in the way stays as it is.
void claim_demo_folder(const fs::path& out, const DemoOptions& options) {
  const auto marker = out / "demo.json";
  if (fs::exists(marker)) {
    const auto there = read_json(marker);
    DemoOptions recorded;  // an older program knew fewer options
    merge_json(recorded, there, marker.string());
    ensure(to_json(recorded) == to_json(options),
           "{}: holds a demo with other options ({}); choose another --out or remove it",
           out.string(), there.dump());
    make_writable_folder(out);
    remove_abandoned_writes(out);
    return;
  }
  claim_folder(out, "demo.json", to_json(options), "a demo folder");
}

void draw_sheet(const DemoOptions& options, const fs::path& path) {
  constexpr int64_t kPerCategory = 8;
  std::vector<images::Image> pictures;
  for (int64_t category = 0; category < options.categories; ++category) {
    for (int64_t i = 0; i < kPerCategory; ++i) {
      pictures.push_back(datasets::draw_scene(category, i, options.size, options.seed).image);
    }
  }
  write_file_atomically(path, images::encode_png(views::contact_sheet(pictures, kPerCategory, 4)));
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

fs::path pretrain(const fs::path& out,
                  const DemoOptions& options,
                  const models::Resources& resources) {
  const auto data = out / "pretraining-data";
  const auto dataset = draw(data, options, true, resources.threads);
  training::Recipe recipe;
  recipe.train.arm = networks::Arm::ordinary;
  recipe.train.epochs = options.pretraining_epochs;
  recipe.train.seed = options.seed;
  const auto run = training::claim_run(out / "runs" / "backbone", recipe, make_manifest(dataset));
  if (!training::is_trained(run)) {
    say("training the common backbone on other images ...");
    training::train(run, dataset, resources);
  }
  return out / "runs" / "backbone";
}

fs::path unpack_backbone(const fs::path& out) {
  const auto bytes = carried_backbone();
  expects(content_hash(bytes) == kBackboneHash, "the carried backbone is another: hash {}",
          content_hash(bytes));
  const auto file = out / "backbone.safetensors";
  write_file_atomically(file, bytes);
  return file;
}

// What every arm starts from, as the paper's arms start from a net trained on other images.
fs::path common_start(const fs::path& out,
                      const DemoOptions& options,
                      const models::Resources& resources) {
  switch (options.backbone) {
    case DemoBackbone::trained:
      return pretrain(out, options, resources);
    case DemoBackbone::carried:
      return unpack_backbone(out);
  }
  return {};
}

std::string start_in_words(const DemoOptions& options) {
  switch (options.backbone) {
    case DemoBackbone::trained:
      return fmt::format("All networks start from one backbone, trained before on {} other images.",
                         options.categories * options.pretraining_images);
    case DemoBackbone::carried:
      return "All networks start from one backbone that the program carries with it. It was "
             "trained before on 9,000 other images of such animals, drawn by a seed that no demo "
             "uses: it has seen none of the images here.";
  }
  return {};
}

runs::RunFolder run_arm(const fs::path& out,
                        networks::Arm arm,
                        const fs::path& start,
                        const DemoOptions& options,
                        const datasets::PartDataset& dataset,
                        const models::Resources& resources) {
  training::Recipe recipe;
  recipe.train.arm = arm;
  recipe.train.init = start.string();
  recipe.train.epochs = options.epochs;
  recipe.train.seed = options.seed;
  const auto run = training::claim_run(out / "runs" / word_of(arm), recipe, make_manifest(dataset));
  if (!training::is_trained(run)) {
    say(fmt::format("training {} ...", word_of(arm)));
    training::train(run, dataset, resources);
  }
  findings::settle_findings(run.folder);
  judging::MeasureOptions measure;
  measure.measures.bootstrap.threads = resources.threads;
  const auto found = findings::read_findings(run.folder);
  if (!found || !judging::are_as_asked(run.folder, *found, measure)) {
    say(fmt::format("measuring {} ...", word_of(arm)));
    judging::measure_run(run.folder, dataset, measure, resources);
  }
  return run.folder;
}

}  // namespace

DemoOptions quick_demo() {
  DemoOptions options;
  options.images = 180;
  options.epochs = 4;
  options.backbone = DemoBackbone::carried;
  return options;
}

Demo run_demo(const fs::path& out,
              const DemoOptions& options,
              const std::string& command,
              const Machine& machine) {
  const Abandonable abandonable("interrupted; the same command goes on");
  const auto start = std::chrono::steady_clock::now();
  const auto resources = start_session(machine);
  claim_demo_folder(out, options);

  say("drawing synthetic animals ...");
  const auto dataset = draw(out / "data", options, false, resources.threads);
  draw_sheet(options, out / "animals.png");
  const auto backbone = common_start(out, options, resources);
  Demo demo{{}, {}, out / "report.html", out / "summary.json"};
  for (const auto arm : values_of<networks::Arm>())
    demo.runs.push_back(run_arm(out, arm, backbone, options, dataset, resources));
  for (const auto& run : demo.runs) demo.found.push_back(findings::require_findings(run));

  explaining::provide_part_book(demo.runs.back(), out / "data", resources);
  draw_figures_for_report(demo.runs, out / "data", options.seed, resources);
  explain_for_report(demo.runs, out / "data", machine);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  demo.seconds = seconds.count();
  write_json_atomically(demo.summary, summary_of(demo.found, demo.seconds));
  report::write_report(demo.runs,
                       {{"title", "Which parts of the animal does the network use?"},
                        {"command", command},
                        {"seconds", demo.seconds},
                        {"start", start_in_words(options)},
                        {"seed", options.seed},
                        {"dataset",
                         {{"name", "synthetic animals"},
                          {"images", dataset.images.size()},
                          {"sheet", (out / "animals.png").string()}}}},
                       demo.report);
  return demo;
}

}  // namespace partwise::experiments
