#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/cli/measure_flags.h"
#include "partwise/judging/dissection.h"
#include "partwise/metrics/comparison.h"

#include <algorithm>
#include <cmath>

namespace partwise::cli {
namespace {

struct Flags {
  std::vector<std::string> runs;
  std::string data;
  std::string split = "test";
  std::string json;
  MeasureFlags measures;
  experiments::Machine machine;
};

// What is kept of a run: its maps are gone before the next one is measured.
struct Measured {
  std::vector<datasets::Sample> samples;
  std::map<std::string, metrics::Finding> decisions;
  std::vector<judging::LayerFindings> layers;
  int64_t rows = 0;
  int64_t training_images = 0;
};

Measured measured(const runs::RunFolder& run,
                  const datasets::PartDataset& dataset,
                  const judging::MeasureOptions& options,
                  const models::Resources& resources) {
  say(fmt::format("measuring {} ...", run.path().string()));
  auto seen = judging::dissect(run, dataset, options, resources);
  return {std::move(seen.examples.samples), std::move(seen.decisions), std::move(seen.layers),
          seen.findings.at("rows").get<int64_t>(),
          seen.findings.at("training_images").get<int64_t>()};
}

// Runs on other data, or another task, do not see the same images.
void ensure_comparable(const runs::RunFolder& a, const runs::RunFolder& b) {
  const auto differ = [&](const char* what, const nlohmann::json& first,
                          const nlohmann::json& second, const char* key) {
    ensure(first.value(key, nlohmann::json()) == second.value(key, nlohmann::json()),
           "{} and {} differ in {} ({} and {}); only runs on the same images can be compared",
           a.path().string(), b.path().string(), what, first.value(key, nlohmann::json()).dump(),
           second.value(key, nlohmann::json()).dump());
  };
  differ("their data or its split", a.manifest(), b.manifest(), "data_hash");
  differ("their task", a.options(), b.options(), "task");
}

void ensure_same_rows(const Measured& a, const Measured& b, const Flags& flags) {
  const bool same =
      a.rows == b.rows && std::equal(a.samples.begin(), a.samples.end(), b.samples.begin(),
                                     b.samples.end(), [](const auto& one, const auto& other) {
                                       return one.image_index == other.image_index &&
                                              one.annotation_index == other.annotation_index;
                                     });
  ensure(same, "{} and {} look at different images of split '{}' ({} and {}: is the loss another?)",
         flags.runs[0], flags.runs[1], flags.split, a.rows, b.rows);
}

nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json line(const std::string& layer,
                    const std::string& metric,
                    const metrics::Finding& first,
                    const metrics::Finding& second) {
  const auto comparison = metrics::compare(first, second);
  const bool exists = std::isfinite(comparison.difference);
  return {{"layer", layer},
          {"metric", metric},
          {"first", number(first.value)},
          {"second", number(second.value)},
          {"difference", number(comparison.difference)},
          {"low", number(comparison.low)},
          {"high", number(comparison.high)},
          {"verdict", exists ? metrics::verdict(comparison) : "not defined"}};
}

nlohmann::json all_lines(const Measured& a, const Measured& b) {
  auto lines = nlohmann::json::array();
  for (const auto& [metric, first] : a.decisions)
    lines.push_back(line("", metric, first, b.decisions.at(metric)));
  for (const auto& layer : a.layers) {
    const auto role = layer.facts.at("role");
    const auto other = std::find_if(b.layers.begin(), b.layers.end(), [&](const auto& candidate) {
      return candidate.facts.at("role") == role;
    });
    if (other == b.layers.end()) continue;
    for (const auto& [metric, first] : layer.findings) {
      const auto second = other->findings.find(metric);
      if (second == other->findings.end()) continue;
      lines.push_back(line(role.get<std::string>(), metric, first, second->second));
    }
  }
  return lines;
}

std::string table(const nlohmann::json& lines) {
  const auto shown = [](const nlohmann::json& value, const char* format) {
    return value.is_number() ? fmt::format(fmt::runtime(format), value.get<double>()) : "-";
  };
  auto text = fmt::format("{:<26} {:<32} {:>8} {:>8} {:>8}  {:<18} {}\n", "layer", "metric",
                          "first", "second", "change", "95 % interval", "the second is");
  for (const auto& one : lines) {
    const auto layer = one.at("layer").get<std::string>();
    text += fmt::format(
        "{:<26} {:<32} {:>8} {:>8} {:>8}  {:<18} {}\n", layer.empty() ? "whole network" : layer,
        one.at("metric").get<std::string>(), shown(one.at("first"), "{:.3f}"),
        shown(one.at("second"), "{:.3f}"), shown(one.at("difference"), "{:+.3f}"),
        fmt::format("[{}, {}]", shown(one.at("low"), "{:+.3f}"), shown(one.at("high"), "{:+.3f}")),
        one.at("verdict").get<std::string>());
  }
  return text;
}

void compare_command(const Flags& flags) {
  const auto a = runs::RunFolder::open(flags.runs[0]);
  const auto b = runs::RunFolder::open(flags.runs[1]);
  ensure_comparable(a, b);
  const auto resources = experiments::start_session(flags.machine);
  auto options = network_options(flags.measures, flags.split, flags.machine.threads);
  const auto dataset = datasets::load_dataset(a.data(flags.data));
  const auto first = measured(a, dataset, options, resources);
  options.measures.bootstrap.filter_stream = 1;  // other filters, the same images
  const auto second = measured(b, dataset, options, resources);
  ensure_same_rows(first, second, flags);

  const auto lines = all_lines(first, second);
  if (first.training_images > 0)
    say(fmt::format("note: {} of {} images are training images", first.training_images,
                    first.rows));
  if (!flags.json.empty())
    write_json_atomically(flags.json, {{"first", flags.runs[0]},
                                       {"second", flags.runs[1]},
                                       {"split", flags.split},
                                       {"rows", first.rows},
                                       {"training_images", first.training_images},
                                       {"comparisons", lines}});
  fmt::print("first   {}\nsecond  {}\n{} images of split {}, the same for both\n\n{}",
             flags.runs[0], flags.runs[1], first.rows, flags.split, table(lines));
  fmt::print("\nOne interval a line: of {} lines about {:.0f} leave out 0 by chance alone.\n",
             lines.size(), std::ceil(0.05 * static_cast<double>(lines.size())));
}

}  // namespace

void add_compare(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "compare",
                              "Measure two runs on the same images and say which numbers differ: "
                              "paired bootstrap, 95 % intervals of the differences.",
                              "partwise compare runs/masked runs/interpretable");
  command->add_option("runs", flags->runs, "two run folders")->required()->expected(2);
  command->add_option("--data", flags->data, "where their dataset lies now");
  command->add_option("--split", flags->split, "which images; all: every split")
      ->capture_default_str();
  command->add_option("--json", flags->json, "also write everything to this file");
  flags->measures.known = network_metrics();
  add_measure_flags(*command, flags->measures);
  add_machine(*command, flags->machine);
  command->callback([flags] { compare_command(*flags); });
}

}  // namespace partwise::cli
