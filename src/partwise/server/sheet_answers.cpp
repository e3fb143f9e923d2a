#include "partwise/atlas/filter_rows.h"
#include "partwise/atlas/naming_sheet.h"
#include "partwise/server/answers.h"

#include <algorithm>

namespace partwise::server {
namespace {

using atlas::FilterPlace;
using atlas::RunAtlas;
using atlas::Sheet;
using atlas::ShownRun;

constexpr int64_t kImagesOnASheet = 6;

std::string place_key(const FilterPlace& place) {
  return fmt::format("{}:{}", place.layer, place.filter);
}

// Those that can be seen firing.
std::vector<FilterPlace> filters_to_name(const RunAtlas& atlas) {
  std::vector<FilterPlace> filters;
  for (std::size_t tap = 0; tap < atlas.layers.size(); ++tap) {
    for (int64_t filter = 0; filter < atlas.layers[tap].filters; ++filter) {
      if (!atlas.look->layers[tap].silent[static_cast<std::size_t>(filter)])
        filters.push_back({atlas.layers[tap].name, filter});
    }
  }
  return filters;
}

nlohmann::json pictures_for(const ShownRun& run, const RunAtlas& atlas, const FilterPlace& place) {
  const auto tap = layer_named(atlas, place.layer);
  const auto& look = *atlas.look;
  const auto bands =
      atlas::bands_of({look.layers[tap].peaks.peaks_of(place.filter), look.row_category,
                       atlas.categories[tap][static_cast<std::size_t>(place.filter)]},
                      kImagesOnASheet);
  auto pictures = nlohmann::json::array();
  for (const int64_t row : bands.strongest)
    pictures.push_back(fmt::format("{}/filters/{}/rows/{}/field.png",
                                   layer_address(run, place.layer), place.filter, row));
  return pictures;
}

nlohmann::json named_json(const Sheet& sheet) {
  auto named = nlohmann::json::object();
  for (const auto& [place, name] : sheet) named[place_key(place)] = name;
  return named;
}

Response sheet_of(Desk& desk, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  const auto& rater = named.at("rater");
  atlas::check_rater(rater);
  const auto atlas = opened_with_data(run);
  auto order = nlohmann::json::array();
  auto pictures = nlohmann::json::object();
  for (const auto& place : atlas::sheet_order(filters_to_name(*atlas), rater)) {
    order.push_back({{"layer", place.layer}, {"filter", place.filter}});
    pictures[place_key(place)] = pictures_for(run, *atlas, place);
  }
  return json_response({{"rater", rater},
                        {"order", std::move(order)},
                        {"named", named_json(atlas::read_sheet(run.folder(), rater))},
                        {"pictures", std::move(pictures)}});
}

Response name_one(Desk& desk, const Request& request, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  const auto atlas = opened(run);
  const auto body = json_body(request);
  const auto layer = text_in(body, "layer", true);
  const auto filter = body.find("filter");
  if (filter == body.end() || !filter->is_number_integer())
    throw Refusal(400, "'filter' is missing: its number");
  const auto tap = layer_named(*atlas, layer);
  const auto number = filter_named(*atlas, tap, filter->dump());
  const auto sheet = atlas::name_on_sheet(run.folder(), named.at("rater"), {layer, number},
                                          text_in(body, "name", true));
  return json_response({{"rater", named.at("rater")}, {"named", named_json(sheet)}});
}

// Per rater, layer and category: the share of the filters he named that he gave each name.
void add_table(const RunAtlas& atlas,
               const std::string& rater,
               const Sheet& sheet,
               nlohmann::json& table) {
  const auto& categories = atlas.explainer->model().design.task.categories;
  for (std::size_t tap = 0; tap < atlas.layers.size(); ++tap) {
    std::map<int64_t, std::map<std::string, int64_t>> counts;
    std::map<int64_t, int64_t> sums;
    for (const auto& [place, name] : sheet) {
      if (place.layer != atlas.layers[tap].name || place.filter >= atlas.layers[tap].filters)
        continue;
      const auto category = atlas.categories[tap][static_cast<std::size_t>(place.filter)];
      ++counts[category][name];
      ++sums[category];
    }
    for (const auto& [category, names] : counts) {
      for (const auto& [name, count] : names)
        table.push_back(
            {{"rater", rater},
             {"layer", atlas.layers[tap].name},
             {"category", category < 0 ? "" : categories[static_cast<std::size_t>(category)]},
             {"name", name},
             {"filters", count},
             {"of", sums[category]},
             {"share", static_cast<double>(count) / static_cast<double>(sums[category])}});
    }
  }
}

Response semantics_of(Desk& desk, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  const auto atlas = opened(run);
  std::vector<std::pair<std::string, Sheet>> sheets;
  for (const auto& rater : atlas::raters_of(run.folder()))
    sheets.emplace_back(rater, atlas::read_sheet(run.folder(), rater));
  // The two who named most.
  std::stable_sort(sheets.begin(), sheets.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  auto raters = nlohmann::json::array();
  auto table = nlohmann::json::array();
  for (const auto& [rater, sheet] : sheets) {
    raters.push_back({{"name", rater}, {"count", sheet.size()}});
    add_table(*atlas, rater, sheet, table);
  }
  nlohmann::json agreement = nullptr;
  if (sheets.size() >= 2) {
    if (const auto found = atlas::agreement_of(sheets[0].second, sheets[1].second, {}))
      agreement = {{"first", sheets[0].first},
                   {"second", sheets[1].first},
                   {"n", found->n},
                   {"same", found->same},
                   {"by_chance", found->by_chance},
                   {"kappa", found->kappa.value},
                   {"low", found->kappa.low},
                   {"high", found->kappa.high}};
  }
  return json_response({{"raters", std::move(raters)},
                        {"table", std::move(table)},
                        {"agreement", std::move(agreement)}});
}

}  // namespace

std::vector<Route> sheet_routes(Desk& desk) {
  return {
      {"GET", "/api/runs/{run}/sheet/{rater}",
       [&desk](const Request&, const Named& named) { return sheet_of(desk, named); }},
      {"PUT", "/api/runs/{run}/sheet/{rater}",
       [&desk](const Request& request, const Named& named) {
         return name_one(desk, request, named);
       }},
      {"GET", "/api/runs/{run}/semantics",
       [&desk](const Request&, const Named& named) { return semantics_of(desk, named); }},
  };
}

}  // namespace partwise::server
