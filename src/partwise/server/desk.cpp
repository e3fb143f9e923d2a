#include "partwise/server/desk.h"

#include "partwise/metrics/catalogue.h"
#include "partwise/report/glossary.h"

#include <algorithm>

namespace partwise::server {
namespace {

constexpr std::chrono::seconds kPatience{20};

const char* better_word(metrics::Better better) {
  switch (better) {
    case metrics::Better::higher:
      return "higher";
    case metrics::Better::lower:
      return "lower";
    case metrics::Better::neither:
      break;
  }
  return "";
}

nlohmann::json word_or_null(std::string_view word) {
  return word.empty() ? nlohmann::json(nullptr) : nlohmann::json(word);
}

}  // namespace

atlas::ShownRun& run_named(Desk& desk, const std::string& id) {
  auto* run = desk.library.find(id);
  if (!run) throw Refusal(404, fmt::format("no run '{}' is served", id));
  return *run;
}

std::shared_ptr<atlas::RunAtlas> opened(const atlas::ShownRun& run) {
  std::shared_ptr<atlas::RunAtlas> atlas;
  try {
    atlas = run.atlas_within(kPatience);
  } catch (const Error& problem) {
    throw Refusal(404, fmt::format("{} could not be opened: {}", run.id, problem.what()));
  }
  if (atlas) return atlas;
  if (!run.is_opening())
    throw Refusal(
        404, fmt::format("{} has no network to show yet: it is {}", run.id, word_of(run.state())));
  throw Refusal(503, fmt::format("{} is still being looked at; ask again in a moment", run.id));
}

std::shared_ptr<atlas::RunAtlas> opened_with_data(const atlas::ShownRun& run) {
  auto atlas = opened(run);
  if (!atlas->look) {
    const auto data = run.data();
    throw Refusal(
        404, data.why.empty()
                 ? fmt::format("{} was opened without its data; start the server again", run.id)
                 : data.why);
  }
  return atlas;
}

std::size_t layer_named(const atlas::RunAtlas& atlas, const std::string& name) {
  for (std::size_t tap = 0; tap < atlas.layers.size(); ++tap) {
    if (atlas.layers[tap].name == name) return tap;
  }
  throw Refusal(404, fmt::format("no layer '{}' in this run", name));
}

int64_t filter_named(const atlas::RunAtlas& atlas, std::size_t tap, const std::string& number) {
  const auto filter = number_in(number);
  const auto& layer = atlas.layers[tap];
  if (!filter || *filter >= layer.filters)
    throw Refusal(404, fmt::format("no filter '{}' in layer {}; it has 0 to {}", number, layer.name,
                                   layer.filters - 1));
  return *filter;
}

int64_t row_named(const atlas::RunAtlas& atlas, const std::string& number) {
  const auto row = number_in(number);
  const auto rows = std::ssize(atlas.look->decisions);
  if (!row || *row >= rows)
    throw Refusal(404, fmt::format("no row '{}'; there are 0 to {}", number, rows - 1));
  return *row;
}

Response picture_response(Desk& desk,
                          const Request& request,
                          const std::string& tag,
                          const std::function<std::string()>& draw) {
  Response response;
  response.type = "image/png";
  response.headers["ETag"] = fmt::format("\"{}\"", content_hash(tag));
  response.headers["Cache-Control"] = "private, no-cache";  // a run of the same name may follow
  if (request.header("if-none-match") == response.headers["ETag"]) {
    response.status = 304;
    return response;
  }
  if (auto kept = desk.pictures.find(tag)) {
    response.body = std::move(*kept);
  } else {
    response.body = draw();
    desk.pictures.keep(tag, response.body, response.body.size());
  }
  return response;
}

nlohmann::json json_body(const Request& request) {
  auto body = nlohmann::json::parse(request.body, nullptr, false);
  if (!body.is_object()) throw Refusal(400, "the body is not a JSON object");
  return body;
}

std::string text_in(const nlohmann::json& body, const char* name, bool required) {
  const auto found = body.find(name);
  if (found == body.end()) {
    if (required) throw Refusal(400, fmt::format("'{}' is missing", name));
    return "";
  }
  if (!found->is_string()) throw Refusal(400, fmt::format("'{}' is not a text", name));
  return found->get<std::string>();
}

std::string encoded(const std::string& segment) {
  std::string text;
  for (const char c : segment) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == '+';
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string layer_address(const atlas::ShownRun& run, const std::string& layer) {
  return fmt::format("/api/runs/{}/layers/{}", encoded(run.id), encoded(layer));
}

nlohmann::json words_json(const std::string& key) {
  if (const auto* words = metrics::find_number(key))
    return {{"key", key},
            {"title", words->name},
            {"better", word_or_null(better_word(words->better))},
            {"meaning", words->meaning},
            {"is_share", words->is_share}};
  for (const auto& own : atlas::own_numbers()) {
    if (own.key == key)
      return {{"key", key},
              {"title", own.name},
              {"better", word_or_null(own.better)},
              {"meaning", own.meaning},
              {"is_share", own.is_share}};
  }
  return {{"key", key}, {"title", key}, {"better", nullptr}, {"meaning", ""}, {"is_share", false}};
}

nlohmann::json finding_json(const std::string& key, const metrics::Finding& finding, int64_t n) {
  auto json = words_json(key);
  json["value"] = finding.value;
  json["low"] = finding.low;
  json["high"] = finding.high;
  json["n"] = n;
  auto controls = nlohmann::json::object();
  for (const auto& [name, value] : finding.controls) controls[report::control_name(name)] = value;
  json["controls"] = std::move(controls);
  return json;
}

nlohmann::json or_null(const std::optional<double>& number) {
  return number ? nlohmann::json(*number) : nlohmann::json(nullptr);
}

}  // namespace partwise::server
