#include "partwise/cli/measure.h"

#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/images/codec.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"
#include "partwise/views/heat_map.h"

namespace partwise::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kThumbnailGap = 4;

images::Image image_of_row(const training::Examples& examples, int64_t row) {
  const auto interleaved = examples.pixels[row].permute({1, 2, 0}).contiguous();
  const auto* data = interleaved.data_ptr<uint8_t>();
  return {interleaved.size(1), interleaved.size(0), {data, data + interleaved.numel()}};
}

// The filter's strongest rows: the crop above, the crop with the map before the mask below.
images::Image card_picture(const dissection::Dissection& seen, const dissection::FilterCard& card) {
  const auto& layer = seen.activations.layers[card.layer];
  const auto maps = layer.view_maps();
  std::vector<images::Image> pictures;
  for (const int64_t row : card.rows) pictures.push_back(image_of_row(seen.examples, row));
  for (const int64_t row : card.rows) {
    const auto map = maps.map(row, card.filter);
    const double top = *std::max_element(map.begin(), map.end());
    const views::HeatGrid grid{maps.side, layer.grid.offset, layer.grid.stride,
                               static_cast<double>(layer.grid.input_side)};
    pictures.push_back(views::overlay_map(image_of_row(seen.examples, row), map, grid, top));
  }
  return views::contact_sheet(pictures, static_cast<int64_t>(card.rows.size()), kThumbnailGap);
}

nlohmann::json card_json(const runs::RunFolder& run,
                         const dissection::Dissection& seen,
                         const dissection::FilterCard& card) {
  auto json = card.summary;
  if (card.rows.empty()) return json;
  const auto& layer = seen.activations.layers[card.layer].name;
  const auto name = fmt::format("{}-{:03}.png", layer, card.filter);
  write_file_atomically(run.pictures() / name, images::encode_png(card_picture(seen, card)));
  json["picture"] = "pictures/" + name;
  json["picture_alt"] =
      fmt::format("The {} crops of {} on which filter {} of {} fires strongest, and where it fires",
                  card.rows.size(), card.summary.value("category", ""), card.filter, layer);
  return json;
}

std::string cell(const nlohmann::json& finding) {
  const auto number = [&](const char* key) {
    const auto& value = finding.at(key);
    return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : std::string("-");
  };
  return fmt::format("{} [{}, {}]", number("value"), number("low"), number("high"));
}

struct Flags {
  std::vector<std::string> runs;
  std::string data;
  std::string json;
  dissection::MeasureOptions options;
  nlohmann::json given = nlohmann::json::object();
  Common common;
};

void measure_command(Flags flags) {
  flags.options.instability = options_from<metrics::InstabilityOptions>(flags.given);
  flags.options.interpretability = options_from<metrics::InterpretabilityOptions>(flags.given);
  flags.options.bootstrap = options_from<metrics::BootstrapOptions>(flags.given);
  flags.options.bootstrap.threads = flags.common.threads;
  tensors::require_device(flags.common.device);
  tensors::start_session(flags.common.threads);
  std::vector<runs::RunFolder> runs;
  auto all = nlohmann::json::object();
  for (const auto& path : flags.runs) {
    const auto run = runs::RunFolder::open(path);
    const auto data = flags.data.empty() ? run.manifest().value("data", "") : flags.data;
    measure_run(run, datasets::load_dataset(data), flags.options,
                {flags.common.device, flags.common.threads});
    all[path] = *run.findings();
    runs.push_back(run);
  }
  if (!flags.json.empty()) write_json_atomically(flags.json, all);
  fmt::print("{}", findings_table(runs));
}

}  // namespace

void measure_run(const runs::RunFolder& run,
                 const datasets::PartDataset& dataset,
                 const dissection::MeasureOptions& options,
                 const training::Resources& resources) {
  auto seen = dissection::dissect(run, dataset, options, resources);
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
                      cell(findings->at("accuracy")), cell(layer.at("purity")),
                      cell(layer.at("part_interpretability")),
                      cell(layer.at("location_instability")), cell(layer.at("instability_ratio")));
    }
  }
  return table;
}

void add_measure(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "measure",
                              "Measure trained networks: accuracy, purity, part interpretability, "
                              "location instability, with controls and 95 % intervals.",
                              "partwise measure runs/fox");
  command->add_option("runs", flags->runs, "run folders")->required();
  command->add_option("--data", flags->data, "another dataset than the run was trained on");
  command->add_option("--split", flags->options.split, "which images")->capture_default_str();
  command->add_option("--json", flags->json, "also write everything to this file");
  add_fields<metrics::InstabilityOptions>(*command, flags->given);
  add_fields<metrics::InterpretabilityOptions>(*command, flags->given);
  add_fields<metrics::BootstrapOptions>(*command, flags->given);
  add_common(*command, flags->common);
  command->callback([flags] { measure_command(*flags); });
}

}  // namespace partwise::cli
