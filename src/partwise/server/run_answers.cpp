#include "partwise/judging/outdated_findings.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/report/verdict.h"
#include "partwise/server/answers.h"

namespace partwise::server {
namespace {

using atlas::ShownRun;

nlohmann::json layers_json(const ShownRun& run, const findings::RunFindings* found) {
  auto layers = nlohmann::json::array();
  if (const auto atlas = run.atlas()) {
    for (const auto& layer : atlas->layers)
      layers.push_back({{"name", layer.name},
                        {"role", layer.role},
                        {"filters", layer.filters},
                        {"side", layer.side},
                        {"input_side", layer.input_side},
                        {"has_mask", layer.has_mask}});
    return layers;
  }
  if (!found) return layers;
  const auto whole = [](const std::optional<int64_t>& number) {
    return number ? nlohmann::json(*number) : nlohmann::json(nullptr);
  };
  for (const auto& layer : found->layers)
    layers.push_back({{"name", layer.layer},
                      {"role", layer.role},
                      {"filters", whole(layer.filters)},
                      {"side", whole(layer.side)},
                      {"input_side", whole(layer.input_side)}});
  return layers;
}

nlohmann::json run_json(const ShownRun& run) {
  const auto found = run.findings();
  const auto atlas = run.atlas();
  const auto data = run.data();
  const auto& options = run.folder().options();
  nlohmann::json json{
      {"id", run.id},
      {"label", run.label},
      {"folder", run.folder().path().string()},
      {"arm", options.value("arm", "")},
      {"net", options.value("net", "")},
      {"task", options.value("task", "")},
      {"state", word_of(run.state())},
      {"ready", atlas != nullptr},
      {"opening", run.is_opening()},
      {"learning", run.is_learning()},
      {"failure", run.failure()},
      {"seed", options.value("seed", 0)},
      {"epochs", options.value("epochs", 0)},
      {"data", {{"folder", data.folder}, {"there", data.there}, {"why", data.why}}},
      {"knows_parts", atlas && atlas->explainer->knows_parts()},
      {"split", run.request().split},
      {"images", found ? nlohmann::json(found->rows) : nlohmann::json(nullptr)},
      {"categories", nlohmann::json::array()},
      {"classes", nlohmann::json::array()},
      {"accuracy", nullptr},
      {"layers", layers_json(run, found.get())},
  };
  if (atlas && atlas->look) json["images"] = std::ssize(atlas->look->decisions);
  if (atlas) {
    const auto& task = atlas->explainer->model().design.task;
    json["categories"] = task.categories;
    json["classes"] = models::class_names(task);
  } else if (found) {
    json["categories"] = found->categories;
    json["classes"] = found->classes;
  }
  if (found) {
    if (const auto* accuracy = findings::find_finding(found->findings, "accuracy"))
      json["accuracy"] = finding_json("accuracy", *accuracy, found->rows);
  }
  return json;
}

// In the catalogue's order; what it does not know comes last.
nlohmann::json findings_json(const metrics::Findings& findings, int64_t n) {
  auto list = nlohmann::json::array();
  for (const auto& metric : metrics::catalogue()) {
    for (const auto& number : metric.numbers) {
      const auto found = findings.find(number.key);
      if (found == findings.end()) continue;
      auto json = finding_json(found->first, found->second, n);
      json["leads"] = metric.leads;
      list.push_back(std::move(json));
    }
  }
  for (const auto& [key, finding] : findings) {
    if (!metrics::find_number(key)) list.push_back(finding_json(key, finding, n));
  }
  return list;
}

Response all_runs(Desk& desk) {
  desk.library.open_what_can_be();
  auto runs = nlohmann::json::array();
  for (const auto& run : desk.library.runs()) runs.push_back(run_json(*run));
  return json_response(
      {{"program", desk.program}, {"names_can_change", true}, {"runs", std::move(runs)}});
}

Response findings_of(const ShownRun& run) {
  const auto found = run.findings();
  if (!found)
    throw Refusal(404, fmt::format("{} was not measured; run: partwise measure {}", run.id,
                                   run.folder().path().string()));
  auto layers = nlohmann::json::array();
  auto warnings = nlohmann::json::array();
  if (auto why = judging::why_outdated(run.folder(), *found); !why.empty())
    warnings.push_back(std::move(why));
  for (const auto& layer : found->layers) {
    layers.push_back({{"name", layer.layer},
                      {"role", layer.role},
                      {"filters_per_category", layer.filters_per_category},
                      {"findings", findings_json(layer.findings, found->rows)}});
    for (const auto& words : report::silence_warnings(*found, layer)) warnings.push_back(words);
  }
  if (!found->training_images)
    warnings.push_back(fmt::format(
        "Whether the network was trained on some of the {} images measured is not known.",
        found->rows));
  else if (*found->training_images > 0)
    warnings.push_back(fmt::format("{} of the {} images measured are training images.",
                                   *found->training_images, found->rows));
  return json_response({{"network", findings_json(found->findings, found->rows)},
                        {"layers", std::move(layers)},
                        {"warnings", std::move(warnings)}});
}

Response log_of(const ShownRun& run, const Request& request) {
  const auto after = number_in(request.parameter("after")).value_or(0);
  const auto rows = run.folder().log();
  auto lines = nlohmann::json::array();
  for (auto i = static_cast<std::size_t>(after); i < rows.size(); ++i) lines.push_back(rows[i]);
  return json_response({{"lines", std::move(lines)},
                        {"total", rows.size()},
                        {"state", word_of(run.state())},
                        {"epochs", run.folder().options().value("epochs", 0)}});
}

}  // namespace

std::vector<Route> run_routes(Desk& desk) {
  return {
      {"GET", "/api/runs", [&desk](const Request&, const Named&) { return all_runs(desk); }},
      {"GET", "/api/runs/{run}/findings",
       [&desk](const Request&, const Named& named) {
         return findings_of(run_named(desk, named.at("run")));
       }},
      {"GET", "/api/runs/{run}/log",
       [&desk](const Request& request, const Named& named) {
         return log_of(run_named(desk, named.at("run")), request);
       }},
  };
}

}  // namespace partwise::server
