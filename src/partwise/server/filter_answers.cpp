#include "partwise/atlas/filter_evidence.h"
#include "partwise/atlas/filter_names.h"
#include "partwise/atlas/filter_pictures.h"
#include "partwise/atlas/filter_rows.h"
#include "partwise/atlas/peak_correlations.h"
#include "partwise/images/codec.h"
#include "partwise/server/answers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace partwise::server {
namespace {

using atlas::FilterWords;
using atlas::RunAtlas;
using atlas::ShownRun;

constexpr int64_t kImagesOfABand = 8;
constexpr int64_t kBins = 24;
constexpr int64_t kNearest = 8;
constexpr int64_t kTileSide = 112;

// The filter a path speaks of.
struct Asked {
  ShownRun& run;
  std::shared_ptr<RunAtlas> atlas;
  std::size_t tap;
  int64_t filter;

  const atlas::LayerShape& layer() const { return atlas->layers[tap]; }
  int64_t category() const { return atlas->categories[tap][static_cast<std::size_t>(filter)]; }
  const atlas::LayerLook* look() const { return atlas->look ? &atlas->look->layers[tap] : nullptr; }
  std::string address() const {
    return fmt::format("{}/filters/{}", layer_address(run, layer().name), filter);
  }
};

Asked asked_filter(Desk& desk, const Named& named, bool with_data) {
  auto& run = run_named(desk, named.at("run"));
  auto atlas = with_data ? opened_with_data(run) : opened(run);
  const auto tap = layer_named(*atlas, named.at("layer"));
  const auto filter = filter_named(*atlas, tap, named.at("filter"));
  return {run, std::move(atlas), tap, filter};
}

std::vector<FilterWords> words_of(const ShownRun& run, const RunAtlas& atlas, std::size_t tap) {
  return atlas::words_of_layer(atlas.layers[tap].name, atlas.layers[tap].filters,
                               atlas.parts_of(tap), explaining::read_people_names(run.folder()));
}

std::string category_name(const RunAtlas& atlas, int64_t category) {
  const auto& names = atlas.explainer->model().design.task.categories;
  return category < 0 ? "" : names[static_cast<std::size_t>(category)];
}

nlohmann::json filter_json(const RunAtlas& atlas,
                           std::size_t tap,
                           int64_t filter,
                           const FilterWords& words) {
  const auto at = static_cast<std::size_t>(filter);
  const atlas::FilterNumbers nothing;
  const auto* look = atlas.look ? &atlas.look->layers[tap] : nullptr;
  const auto& numbers = look ? look->numbers[at] : nothing;
  return {{"filter", filter},
          {"category", category_name(atlas, atlas.categories[tap][at])},
          {"name", words.name},
          {"named_by", word_of(words.by)},
          {"note", words.note},
          {"revision", words.revision},
          {"silent", look && look->silent[at]},
          {"measures",
           {{"part_interpretability", numbers.part_interpretability},
            {"instability_ratio", numbers.instability_ratio},
            {"purity", numbers.purity},
            {"peak", numbers.peak},
            {"matters", numbers.matters},
            {"name_rate", or_null(words.rate)},
            {"name_control", or_null(words.control)}}}};
}

Response all_filters(Desk& desk, const Named& named) {
  auto& run = run_named(desk, named.at("run"));
  const auto atlas = opened(run);
  const auto tap = layer_named(*atlas, named.at("layer"));
  auto columns = nlohmann::json::array();
  for (const auto* key : {"part_interpretability", "instability_ratio", "purity", "peak", "matters",
                          "name_rate", "name_control"})
    columns.push_back(words_json(key));
  const auto words = words_of(run, *atlas, tap);
  auto filters = nlohmann::json::array();
  for (int64_t filter = 0; filter < atlas->layers[tap].filters; ++filter)
    filters.push_back(filter_json(*atlas, tap, filter, words[static_cast<std::size_t>(filter)]));
  return json_response({{"columns", std::move(columns)}, {"filters", std::move(filters)}});
}

nlohmann::json image_json(const Asked& asked, int64_t row) {
  const auto& look = *asked.atlas->look;
  const auto& layer = *asked.look();
  const auto at = static_cast<std::size_t>(row);
  const auto classes = models::class_names(look.task);
  const auto& decision = look.decisions[at];
  const auto peaks = layer.peaks.peaks_of(asked.filter);
  const double highest = *std::max_element(peaks.begin(), peaks.end());
  const auto place = metrics::peak_centre(layer.peaks, layer.grid, asked.filter, row);
  const auto side = static_cast<double>(layer.grid.input_side);
  auto pictures = nlohmann::json::object();
  for (const auto picture : values_of<atlas::Picture>()) {
    const bool needs_mask = picture == atlas::Picture::mask || picture == atlas::Picture::masked;
    pictures[word_of(picture)] =
        needs_mask && !asked.layer().has_mask
            ? nlohmann::json(nullptr)
            : nlohmann::json(
                  fmt::format("{}/rows/{}/{}.png", asked.address(), row, word_of(picture)));
  }
  const auto name = [&](int64_t which) { return classes[static_cast<std::size_t>(which)]; };
  return {{"row", row},
          {"file", look.file_of(row)},
          {"category", name(decision.truth)},
          {"decision", name(decision.decided)},
          {"probability", decision.probability},
          {"right", decision.truth == decision.decided},
          {"peak", peaks[at]},
          {"share", highest > 0.0 ? static_cast<double>(peaks[at]) / highest : 0.0},
          {"x", (place.x + 0.5) / side},
          {"y", (place.y + 0.5) / side},
          {"pictures", std::move(pictures)}};
}

nlohmann::json images_json(const Asked& asked, const std::vector<int64_t>& rows) {
  auto images = nlohmann::json::array();
  for (const int64_t row : rows) images.push_back(image_json(asked, row));
  return images;
}

// The rows on which decisions change most without it.
nlohmann::json matters_json(const Asked& asked) {
  const auto& layer = *asked.look();
  auto images = nlohmann::json::array();
  const auto count = layer.silenced_rows.size();
  if (layer.changes.empty()) return images;
  const auto* changes = layer.changes.data() + static_cast<std::size_t>(asked.filter) * count;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(changes[a]) > std::abs(changes[b]);
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(kImagesOfABand)));
  for (const auto i : order) {
    if (changes[i] == 0.0F) break;
    images.push_back(image_json(asked, layer.silenced_rows[i]));
    images.back()["change"] = -changes[i];
  }
  return images;
}

// What does not change while the server runs: the images and numbers of a filter.
nlohmann::json seen_json(const Asked& asked, const FilterWords& words) {
  const auto& look = *asked.atlas->look;
  const auto& layer = *asked.look();
  const atlas::FilterRows rows{layer.peaks.peaks_of(asked.filter), look.row_category,
                               asked.category()};
  const auto bands = atlas::bands_of(rows, kImagesOfABand);
  const auto histogram = atlas::histogram_of(rows, kBins);
  auto evidence = nlohmann::json::array();
  for (const auto& own : atlas::filter_evidence(*asked.atlas, asked.tap, asked.filter, words,
                                                asked.run.request(), {}))
    evidence.push_back(finding_json(own.key, own.finding, own.n));
  return {{"evidence", std::move(evidence)},
          {"histogram",
           {{"edges", histogram.edges}, {"own", histogram.own}, {"others", histogram.others}}},
          {"bands",
           {{"strongest", images_json(asked, bands.strongest)},
            {"middle", images_json(asked, bands.middle)},
            {"weak", images_json(asked, bands.weak)},
            {"wrong", images_json(asked, bands.wrong)}}},
          {"matters", matters_json(asked)}};
}

Response one_filter(Desk& desk, const Asked& asked) {
  const auto words = words_of(asked.run, *asked.atlas, asked.tap);
  auto json = filter_json(*asked.atlas, asked.tap, asked.filter,
                          words[static_cast<std::size_t>(asked.filter)]);
  json["layer"] = asked.layer().name;
  json["tile"] = asked.address() + "/tile.png";
  auto nearest = nlohmann::json::array();
  if (asked.atlas->look) {
    const auto key = fmt::format("{} {}", asked.address(), asked.run.stamp());
    const auto text = desk.answers.find_or(key, [&] {
      return seen_json(asked, words[static_cast<std::size_t>(asked.filter)]).dump();
    });
    json.update(nlohmann::json::parse(text));
    for (const auto& other : atlas::nearest_filters(asked.look()->peaks, asked.filter, kNearest)) {
      const auto at = static_cast<std::size_t>(other.filter);
      nearest.push_back(
          {{"filter", other.filter},
           {"category", category_name(*asked.atlas, asked.atlas->categories[asked.tap][at])},
           {"name", words[at].name},
           {"correlation", other.correlation},
           {"tile", fmt::format("{}/filters/{}/tile.png",
                                layer_address(asked.run, asked.layer().name), other.filter)}});
    }
  } else {
    json.update({{"evidence", nlohmann::json::array()},
                 {"histogram", nullptr},
                 {"bands", nullptr},
                 {"matters", nlohmann::json::array()},
                 {"why", asked.run.data().why}});
  }
  json["nearest"] = std::move(nearest);
  return json_response(json);
}

Response picture_of(Desk& desk, const Request& request, const Named& named) {
  const auto asked = asked_filter(desk, named, true);
  const auto row = row_named(*asked.atlas, named.at("row"));
  for (const auto picture : values_of<atlas::Picture>()) {
    if (named.at("picture") != word_of(picture) + ".png") continue;
    const bool needs_mask = picture == atlas::Picture::mask || picture == atlas::Picture::masked;
    if (needs_mask && !asked.layer().has_mask)
      throw Refusal(404, fmt::format("layer {} has no mask", asked.layer().name));
    const auto tag =
        fmt::format("{}/rows/{}/{} {}", asked.address(), row, word_of(picture), asked.run.stamp());
    return picture_response(desk, request, tag, [&] {
      return desk.library.bench().ask([&] {
        return images::encode_png(
            atlas::draw_picture(*asked.atlas, {asked.tap, asked.filter, row, picture}));
      });
    });
  }
  throw Refusal(404, "no such picture; there are crop, map, mask, masked and field");
}

Response tile_of(Desk& desk, const Request& request, const Named& named) {
  const auto asked = asked_filter(desk, named, true);
  const auto tag = fmt::format("{}/tile {}", asked.address(), asked.run.stamp());
  return picture_response(desk, request, tag, [&] {
    return desk.library.bench().ask([&] {
      return images::encode_png(atlas::draw_tile(*asked.atlas, asked.tap, asked.filter, kTileSide));
    });
  });
}

Response rename(Desk& desk, const Request& request, const Named& named) {
  const auto asked = asked_filter(desk, named, false);
  const auto body = json_body(request);
  const auto revision = body.find("revision");
  if (revision == body.end() || !revision->is_number_integer())
    throw Refusal(400, "'revision' is missing: that of the filter as it was read");
  const bool written = atlas::name_filter(
      asked.run.folder(), {asked.layer().name, asked.filter, text_in(body, "name", true),
                           text_in(body, "note", false), revision->get<int64_t>()});
  if (written) return one_filter(desk, asked);
  auto present = one_filter(desk, asked);
  auto json = nlohmann::json::parse(present.body);
  json["error"] = fmt::format("somebody else named filter {} meanwhile; look again", asked.filter);
  return json_response(json, 409);
}

Response merge(Desk& desk, const Request& request, const Named& named) {
  auto& run = run_named(desk, named.at("run"));
  const auto body = json_body(request);
  atlas::merge_parts(run.folder(), text_in(body, "part", true), text_in(body, "into", true));
  return json_response({{"merged", explaining::read_people_names(run.folder()).merged}});
}

Response merges(Desk& desk, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  return json_response({{"merged", explaining::read_people_names(run.folder()).merged}});
}

}  // namespace

std::vector<Route> filter_routes(Desk& desk) {
  const auto with = [&desk](auto answer) {
    return [&desk, answer](const Request& request, const Named& named) {
      return answer(desk, request, named);
    };
  };
  return {
      {"GET", "/api/runs/{run}/layers/{layer}/filters",
       [&desk](const Request&, const Named& named) { return all_filters(desk, named); }},
      {"GET", "/api/runs/{run}/layers/{layer}/filters/{filter}",
       [&desk](const Request&, const Named& named) {
         return one_filter(desk, asked_filter(desk, named, false));
       }},
      {"GET", "/api/runs/{run}/layers/{layer}/filters/{filter}/tile.png", with(tile_of)},
      {"GET", "/api/runs/{run}/layers/{layer}/filters/{filter}/rows/{row}/{picture}",
       with(picture_of)},
      {"PUT", "/api/runs/{run}/layers/{layer}/filters/{filter}/name", with(rename)},
      {"POST", "/api/runs/{run}/merges", with(merge)},
      {"GET", "/api/runs/{run}/merges",
       [&desk](const Request&, const Named& named) { return merges(desk, named); }},
  };
}

}  // namespace partwise::server
