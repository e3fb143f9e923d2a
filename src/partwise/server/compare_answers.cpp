#include "partwise/atlas/filter_names.h"
#include "partwise/atlas/peak_correlations.h"
#include "partwise/findings/run_comparison.h"
#include "partwise/metrics/comparison.h"
#include "partwise/server/answers.h"

namespace partwise::server {
namespace {

using atlas::RunAtlas;
using atlas::ShownRun;

nlohmann::json numbers_json(const ShownRun& first, const ShownRun& second) {
  const findings::NamedFindings one{first.id, *first.findings()};
  const findings::NamedFindings other{second.id, *second.findings()};
  auto numbers = nlohmann::json::array();
  for (const auto& number : findings::compare_runs(one, other, {})) {
    auto json = words_json(number.key);
    json["role"] = number.role;
    json["first"] = number.first;
    json["second"] = number.second;
    json["difference"] = number.comparison.difference;
    json["low"] = number.comparison.low;
    json["high"] = number.comparison.high;
    json["paired"] = number.comparison.paired;
    json["verdict"] = metrics::words_for(metrics::relation(number.comparison));
    numbers.push_back(std::move(json));
  }
  return numbers;
}

// Why the rows of two runs are not the same; "" where they are.
std::string difference_of_rows(const RunAtlas& first, const RunAtlas& second) {
  if (!first.look || !second.look) return "the images of one of them are gone";
  const auto& one = first.look->judged.samples;
  const auto& other = second.look->judged.samples;
  const bool same = std::equal(
      one.begin(), one.end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
        return a.image_index == b.image_index && a.annotation_index == b.annotation_index;
      });
  return same && first.look->dataset.root == second.look->dataset.root
             ? ""
             : "they are shown on different images";
}

std::vector<std::string> names_of(const ShownRun& run, const RunAtlas& atlas, std::size_t tap) {
  std::vector<std::string> names;
  for (const auto& words :
       atlas::words_of_layer(atlas.layers[tap].name, atlas.layers[tap].filters, atlas.parts_of(tap),
                             explaining::read_people_names(run.folder())))
    names.push_back(words.name);
  return names;
}

nlohmann::json layers_matched(Desk& desk,
                              const ShownRun& first,
                              const RunAtlas& one,
                              const ShownRun& second,
                              const RunAtlas& other) {
  auto layers = nlohmann::json::array();
  for (std::size_t tap = 0; tap < one.layers.size(); ++tap) {
    for (std::size_t with = 0; with < other.layers.size(); ++with) {
      if (one.layers[tap].role != other.layers[with].role) continue;
      const auto key = fmt::format("matches {} {} {} {} {}", first.id, first.stamp(), second.id,
                                   second.stamp(), tap);
      const auto text = desk.answers.find_or(key, [&] {
        auto pairs = nlohmann::json::array();
        for (const auto& match :
             atlas::matched_filters(one.look->layers[tap].peaks, other.look->layers[with].peaks))
          pairs.push_back({match.first, match.second, match.correlation});
        return pairs.dump();
      });
      const auto first_names = names_of(first, one, tap);
      const auto second_names = names_of(second, other, with);
      auto matches = nlohmann::json::array();
      for (const auto& pair : nlohmann::json::parse(text)) {
        matches.push_back({{"first", pair[0]},
                           {"second", pair[1]},
                           {"correlation", pair[2]},
                           {"first_name", first_names[pair[0].get<std::size_t>()]},
                           {"second_name", second_names[pair[1].get<std::size_t>()]}});
      }
      layers.push_back({{"role", one.layers[tap].role},
                        {"first_layer", one.layers[tap].name},
                        {"second_layer", other.layers[with].name},
                        {"matches", std::move(matches)}});
    }
  }
  return layers;
}

Response compared(Desk& desk, const Request& request) {
  const auto& first = run_named(desk, request.parameter("first"));
  const auto& second = run_named(desk, request.parameter("second"));
  const auto one = first.findings();
  const auto other = second.findings();
  nlohmann::json json{{"first", first.id},
                      {"second", second.id},
                      {"difference", ""},
                      {"not_paired", ""},
                      {"numbers", nlohmann::json::array()},
                      {"layers", nlohmann::json::array()},
                      {"not_matched", ""}};
  if (!one || !other) {
    const auto& missing = one ? second : first;
    json["difference"] = fmt::format("{} was not measured; run: partwise measure {}", missing.id,
                                     missing.folder().path().string());
  } else {
    json["difference"] = findings::difference_between(*one, *other);
    json["not_paired"] = findings::why_not_paired(*one, *other);
  }
  if (json["difference"] == "") json["numbers"] = numbers_json(first, second);
  try {
    const auto first_atlas = opened(first);
    const auto second_atlas = opened(second);
    json["not_matched"] = difference_of_rows(*first_atlas, *second_atlas);
    if (json["not_matched"] == "")
      json["layers"] = layers_matched(desk, first, *first_atlas, second, *second_atlas);
  } catch (const Refusal& refusal) {
    if (refusal.status() == 503) throw;
    json["not_matched"] = refusal.what();
  }
  return json_response(json);
}

}  // namespace

std::vector<Route> compare_routes(Desk& desk) {
  return {{"GET", "/api/compare",
           [&desk](const Request& request, const Named&) { return compared(desk, request); }}};
}

}  // namespace partwise::server
