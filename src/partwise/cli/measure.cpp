#include "partwise/cli/measure.h"

#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/cli/findings_lines.h"
#include "partwise/cli/measure_flags.h"
#include "partwise/cli/session.h"
#include "partwise/images/codec.h"
#include "partwise/report/csv.h"
#include "partwise/report/latex.h"
#include "partwise/report/markdown.h"
#include "partwise/tensors/torch.h"
#include "partwise/views/heat_map.h"

#include <cmath>

namespace partwise::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kThumbnailGap = 4;

images::Image image_of_row(const models::Examples& examples, int64_t row) {
  const auto interleaved = examples.pixels[row].permute({1, 2, 0}).contiguous();
  const auto* data = interleaved.data_ptr<uint8_t>();
  return {interleaved.size(1), interleaved.size(0), {data, data + interleaved.numel()}};
}

// The filter's strongest rows: the crop above, the crop with the map before the mask below.
images::Image card_picture(const judging::Dissection& seen, const judging::FilterCard& card) {
  const auto& units = seen.grids[card.layer];
  std::vector<images::Image> pictures;
  for (const int64_t row : card.rows) pictures.push_back(image_of_row(seen.examples, row));
  for (std::size_t i = 0; i < card.rows.size(); ++i) {
    const auto& map = card.maps[i];
    const double top = *std::max_element(map.begin(), map.end());
    const views::HeatGrid grid{std::llround(std::sqrt(map.size())), units.offset, units.stride,
                               static_cast<double>(units.input_side)};
    pictures.push_back(
        views::overlay_map(image_of_row(seen.examples, card.rows[i]), map, grid, top));
  }
  return views::contact_sheet(pictures, static_cast<int64_t>(card.rows.size()), kThumbnailGap);
}

nlohmann::json card_json(const runs::RunFolder& run,
                         const judging::Dissection& seen,
                         const judging::FilterCard& card) {
  auto json = card.summary;
  if (card.rows.empty()) return json;
  const auto layer = seen.layers[card.layer].facts.at("layer").get<std::string>();
  const auto name = fmt::format("{}-{:03}.png", layer, card.filter);
  write_file_atomically(run.pictures() / name, images::encode_png(card_picture(seen, card)));
  json["picture"] = "pictures/" + name;
  json["picture_alt"] =
      fmt::format("The {} crops of {} on which filter {} of {} fires strongest, and where it fires",
                  card.rows.size(), card.summary.value("category", ""), card.filter, layer);
  return json;
}

struct Flags {
  std::vector<std::string> runs;
  std::string data;
  std::string json;
  std::string csv;
  std::string markdown;
  std::string latex;
  std::string split = "test";
  bool random_control = false;
  std::string checkpoint = "last";
  MeasureFlags measures;
  Common common;
};

void write_tables(const Flags& flags, const std::vector<runs::RunFolder>& runs) {
  if (flags.csv.empty() && flags.markdown.empty() && flags.latex.empty()) return;
  std::vector<report::NamedFindings> named;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    named.push_back(
        {flags.runs[i], report::findings_from_json(*runs[i].findings(),
                                                   (runs[i].path() / "findings.json").string())});
  }
  if (!flags.csv.empty()) write_file_atomically(flags.csv, report::findings_csv(named));
  if (!flags.markdown.empty())
    write_file_atomically(flags.markdown, report::findings_markdown(named));
  if (!flags.latex.empty()) write_file_atomically(flags.latex, report::findings_latex(named));
}

// The further metrics of each network and layer, where there are any.
std::string extra_lines(const std::vector<runs::RunFolder>& runs) {
  std::string text;
  for (const auto& run : runs) {
    const auto findings = run.findings();
    const auto add = [&](const std::string& of, const nlohmann::json& measured) {
      const auto lines = finding_lines(measured, true);
      if (!lines.empty())
        text += fmt::format("\n{}, {}\n{}", findings->at("arm").get<std::string>(), of, lines);
    };
    add("whole network", *findings);
    for (const auto& layer : findings->at("layers"))
      add(layer.at("layer").get<std::string>(), layer);
  }
  return text;
}

void measure_command(const Flags& flags) {
  auto options = network_options(flags.measures, flags.split, flags.common.threads);
  options.random_control = flags.random_control;
  options.checkpoint = flags.checkpoint;
  const auto resources = start_session(flags.common);
  std::vector<runs::RunFolder> runs;
  auto all = nlohmann::json::object();
  int64_t trained_on = 0;
  for (const auto& path : flags.runs) {
    const auto run = runs::RunFolder::open(path);
    const auto data = flags.data.empty() ? run.manifest().value("data", "") : flags.data;
    measure_run(run, datasets::load_dataset(data), options, resources);
    all[path] = *run.findings();
    trained_on = std::max(trained_on, all[path].value("training_images", int64_t{0}));
    runs.push_back(run);
  }
  if (!flags.json.empty()) write_json_atomically(flags.json, all);
  write_tables(flags, runs);
  if (trained_on > 0) {
    say(fmt::format(
        "note: split {} holds {} images the networks were trained on; their numbers say "
        "little about new images",
        flags.split, trained_on));
  }
  fmt::print("{}{}", findings_table(runs), extra_lines(runs));
}

}  // namespace

void measure_run(const runs::RunFolder& run,
                 const datasets::PartDataset& dataset,
                 const judging::MeasureOptions& options,
                 const models::Resources& resources) {
  auto seen = judging::dissect(run, dataset, options, resources);
  make_writable_folder(run.pictures());
  for (auto& layer : seen.findings["layers"]) layer["cards"] = nlohmann::json::array();
  for (const auto& card : seen.cards) {
    seen.findings["layers"][card.layer]["cards"].push_back(card_json(run, seen, card));
  }
  run.write_findings(seen.findings);
}

std::string findings_table(const std::vector<runs::RunFolder>& runs) {
  std::string table =
      fmt::format("{:<15} {:<7} {:<22} {:<22} {:<22} {:<22} {:<22}\n", "arm", "layer", "accuracy",
                  "purity", "part interpretability", "instability D", "D / D_shuffle");
  for (const auto& run : runs) {
    const auto findings = run.findings();
    if (!findings) continue;
    for (const auto& layer : findings->at("layers")) {
      table +=
          fmt::format("{:<15} {:<7} {:<22} {:<22} {:<22} {:<22} {:<22}\n",
                      findings->at("arm").get<std::string>(), layer.at("layer").get<std::string>(),
                      finding_text(findings->at("accuracy")), finding_text(layer.at("purity")),
                      finding_text(layer.at("part_interpretability")),
                      finding_text(layer.at("location_instability")),
                      finding_text(layer.at("instability_ratio")));
    }
  }
  return table;
}

void add_measure(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "measure",
                              "Measure trained networks: accuracy, purity, part interpretability, "
                              "location instability, and more on demand (--all), with controls "
                              "and 95 % intervals. adversarial_distortion attacks the network: "
                              "minutes with net tiny, hours with VGG-16 on a CPU.",
                              "partwise measure runs/fox --all --metrics adversarial_distortion");
  command->add_option("runs", flags->runs, "run folders")->required();
  command->add_option("--data", flags->data, "another dataset than the run was trained on");
  command->add_option("--split", flags->split, "which images; all: every split")
      ->capture_default_str();
  add_checkpoint(*command, flags->checkpoint);
  command->add_option("--json", flags->json, "also write everything to this file");
  command->add_option("--csv", flags->csv, "and a CSV file, one line a number");
  command->add_option("--markdown", flags->markdown, "and a table in Markdown");
  command->add_option("--latex", flags->latex, "and a table in LaTeX");
  command->add_flag("--random-control", flags->random_control,
                    "measure the same network untrained too, as one more control");
  flags->measures.known = network_metrics();
  add_measure_flags(*command, flags->measures);
  add_common(*command, flags->common);
  command->callback([flags] { measure_command(*flags); });
}

}  // namespace partwise::cli
