#include "partwise/explaining/confusions.h"
#include "partwise/images/codec.h"
#include "partwise/judging/filter_cards.h"
#include "partwise/server/answers.h"

namespace partwise::server {
namespace {

using atlas::RunAtlas;
using atlas::ShownRun;

models::Decisions decisions_in(const atlas::Look& look) {
  models::Decisions decisions;
  for (const auto& row : look.decisions) {
    decisions.decided.push_back(row.decided);
    decisions.truth.push_back(row.truth);
  }
  return decisions;
}

Response confusion_of(Desk& desk, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  const auto atlas = opened_with_data(run);
  const auto& look = *atlas->look;
  const auto classes = models::class_names(look.task);
  std::vector<std::vector<int64_t>> confusion(classes.size(), std::vector<int64_t>(classes.size()));
  int64_t wrong = 0;
  for (const auto& row : look.decisions) {
    ++confusion[static_cast<std::size_t>(row.truth)][static_cast<std::size_t>(row.decided)];
    wrong += row.truth == row.decided ? 0 : 1;
  }
  return json_response({{"classes", classes},
                        {"confusion", confusion},
                        {"objects", look.decisions.size()},
                        {"wrong", wrong}});
}

// By its name, or its number where no class has that name.
int64_t class_named(const std::vector<std::string>& classes, const std::string& name) {
  const auto found = std::find(classes.begin(), classes.end(), name);
  if (found != classes.end()) return found - classes.begin();
  const auto number = number_in(name);
  if (number && *number < std::ssize(classes)) return *number;
  throw Refusal(404, fmt::format("no class '{}' in this run", name));
}

// The category its filters stand for, where that is not the asked one in any mistake.
std::string category_of(const explaining::ConfusedPair& pair, const std::string& part) {
  std::optional<std::string> of;
  for (const auto& mistake : pair.mistakes) {
    for (const auto& one : mistake.explanation.parts) {
      if (one.name != part) continue;
      if (of && *of != one.of) return "";
      of = one.of;
    }
  }
  return of.value_or("");
}

nlohmann::json cell_json(
    Desk& desk, const ShownRun& run, const RunAtlas& atlas, int64_t truth, int64_t decided) {
  const auto& look = *atlas.look;
  const auto pair = desk.library.bench().ask([&] {
    atlas.explainer->call_by(explaining::read_people_names(run.folder()));
    return explaining::confused_pair(*atlas.explainer, look.judged, decisions_in(look), truth,
                                     decided, {.controls = 24, .mistakes = 24});
  });
  auto images = nlohmann::json::array();
  for (std::size_t row = 0; row < look.decisions.size(); ++row) {
    const auto& decision = look.decisions[row];
    if (decision.truth != truth || decision.decided != decided) continue;
    images.push_back(
        {{"row", row},
         {"file", look.file_of(static_cast<int64_t>(row))},
         {"probability", decision.probability},
         {"picture", fmt::format("/api/runs/{}/rows/{}/crop.png", encoded(run.id), row)}});
  }
  auto misled = nlohmann::json::array();
  for (const auto& part : pair.parts)
    misled.push_back({{"part", part.name},
                      {"of", category_of(pair, part.name)},
                      {"present", part.present},
                      {"for_wrong", part.contrast},
                      {"low", part.low},
                      {"high", part.high},
                      {"on_right", part.usual},
                      {"leading", part.leading}});
  return {{"truth", pair.truth},         {"predicted", pair.decided},
          {"objects", pair.of},          {"explained", pair.mistakes.size()},
          {"images", std::move(images)}, {"misled", std::move(misled)}};
}

Response cell_of(Desk& desk, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  const auto atlas = opened_with_data(run);
  const auto classes = models::class_names(atlas->look->task);
  const auto truth = class_named(classes, named.at("truth"));
  const auto decided = class_named(classes, named.at("predicted"));
  return json_response(cell_json(desk, run, *atlas, truth, decided));
}

Response crop_of(Desk& desk, const Request& request, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  const auto atlas = opened_with_data(run);
  const auto row = row_named(*atlas, named.at("row"));
  const auto tag = fmt::format("{}/rows/{} {}", run.id, row, run.stamp());
  return picture_response(desk, request, tag, [&] {
    return desk.library.bench().ask(
        [&] { return images::encode_png(judging::image_of_row(atlas->look->judged, row)); });
  });
}

}  // namespace

std::vector<Route> error_routes(Desk& desk) {
  return {
      {"GET", "/api/runs/{run}/errors",
       [&desk](const Request&, const Named& named) { return confusion_of(desk, named); }},
      {"GET", "/api/runs/{run}/errors/{truth}/{predicted}",
       [&desk](const Request&, const Named& named) { return cell_of(desk, named); }},
      {"GET", "/api/runs/{run}/rows/{row}/crop.png",
       [&desk](const Request& request, const Named& named) {
         return crop_of(desk, request, named);
       }},
  };
}

}  // namespace partwise::server
