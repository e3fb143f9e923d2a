#include "partwise/findings/run_findings.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/findings/draws_file.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace partwise::findings {

namespace fs = std::filesystem;
using metrics::kNaN;
using nlohmann::json;

namespace {

// One JSON object and the words for where it stands, so that every complaint can name the field.
class Reader {
 public:
  Reader(const json& object, std::string place, std::string path)
      : object_(object), place_(std::move(place)), path_(std::move(path)) {
    ensure(object.is_object(),
           "{}: {} is {}, expected an object; measure again: partwise measure RUN", place_,
           path_.empty() ? "the whole" : path_, object.type_name());
  }

  const json* find(const std::string& key) const {
    const auto entry = object_.find(key);
    return entry == object_.end() || entry->is_null() ? nullptr : &*entry;
  }

  const json& at(const std::string& key, json::value_t type) const {
    const json* value = find(key);
    ensure(value != nullptr, "{}: {} is missing; measure again: partwise measure RUN", place_,
           name(key));
    check(value->type() == type, key, *value, json(type).type_name());
    return *value;
  }

  std::string required_text(const std::string& key) const {
    return at(key, json::value_t::string).get<std::string>();
  }

  std::string optional_text(const std::string& key) const {
    const json* value = find(key);
    if (value == nullptr) return "";
    check(value->is_string(), key, *value, "a string");
    return value->get<std::string>();
  }

  // NaN where there is none.
  double number(const std::string& key) const {
    const json* value = find(key);
    if (value == nullptr) return kNaN;
    check(value->is_number(), key, *value, "a number or null");
    return value->get<double>();
  }

  std::optional<int64_t> optional_count(const std::string& key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    return count(*value, key);
  }

  int64_t count(const json& value, const std::string& key) const {
    const bool fits = value.is_number_integer() &&
                      (value.is_number_unsigned() ? value.get<uint64_t>() <= kLargestCount
                                                  : value.get<int64_t>() >= 0);
    check(fits, key, value, "a whole number, not negative");
    return value.get<int64_t>();
  }

  const json& optional_list(const std::string& key) const {
    static const json nothing = json::array();
    const json* value = find(key);
    if (value == nullptr) return nothing;
    check(value->is_array(), key, *value, "a list");
    return *value;
  }

  std::vector<std::string> names(const std::string& key) const {
    std::vector<std::string> all;
    for (const json& name : optional_list(key)) {
      check(name.is_string(), key, name, "names");
      all.push_back(name.get<std::string>());
    }
    return all;
  }

  Reader inside(const std::string& key, const json& value) const {
    return {value, place_, name(key)};
  }

  void check(bool fits, const std::string& key, const json& value, const char* expected) const {
    ensure(fits, "{}: {} is {}, expected {}; measure again: partwise measure RUN", place_,
           name(key), value.dump(-1, ' ', true).substr(0, 60), expected);
  }

  const json& object() const { return object_; }

 private:
  static constexpr uint64_t kLargestCount = uint64_t{1} << 53U;

  std::string name(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

  const json& object_;
  std::string place_;
  std::string path_;
};

Finding finding_from(const Reader& reader) {
  Finding finding;
  finding.value = reader.number("value");
  finding.low = reader.number("low");
  finding.high = reader.number("high");
  reader.check(!(finding.low > finding.high), "low", reader.object().value("low", json()),
               "a number not above high");
  if (const json* controls = reader.find("controls")) {
    const Reader inner = reader.inside("controls", *controls);
    for (const auto& [name, value] : controls->items()) finding.controls[name] = inner.number(name);
  }
  for (const auto& [key, value] : reader.object().items()) {
    const bool own =
        key == "value" || key == "low" || key == "high" || key == "controls" || key == "layer";
    if (!own) finding.facts[key] = value;
  }
  return finding;
}

Findings findings_from(const Reader& reader) {
  Findings findings;
  for (const auto& [key, value] : reader.object().items()) {
    const bool fits = value.is_object() && value.contains("value");
    if (fits) findings[key] = finding_from(reader.inside(key, value));
    reader.check(fits || value.is_null() || metrics::find_number(key) == nullptr, key, value,
                 "an object with value, low, high and controls");
  }
  return findings;
}

Card card_from(const Reader& reader) {
  return {.filter = reader.count(reader.object().value("filter", json()), "filter"),
          .category = reader.optional_text("category"),
          .part = reader.optional_text("part"),
          .chosen = reader.optional_text("chosen"),
          .part_interpretability = reader.number("part_interpretability"),
          .instability = reader.number("instability"),
          .ratio = reader.number("ratio"),
          .mean_peak = reader.number("mean_peak"),
          .picture = reader.optional_text("picture"),
          .picture_alt = reader.optional_text("picture_alt")};
}

LayerFindings layer_from(const Reader& reader) {
  LayerFindings layer{.layer = reader.required_text("layer"),
                      .role = reader.optional_text("role"),
                      .side = reader.optional_count("side"),
                      .filters = reader.optional_count("filters"),
                      .input_side = reader.optional_count("input_side"),
                      .unit_stride = reader.number("unit_stride"),
                      .unit_offset = reader.number("unit_offset"),
                      .dead_share = reader.number("dead_share"),
                      .silent_share = reader.number("silent_share"),
                      .filters_per_category = {},
                      .findings = findings_from(reader),
                      .cards = {}};
  if (const json* counts = reader.find("filters_per_category")) {
    const Reader inner = reader.inside("filters_per_category", *counts);
    for (const auto& [name, value] : counts->items())
      layer.filters_per_category[name] = inner.count(value, name);
  }
  const json& cards = reader.optional_list("cards");
  for (std::size_t k = 0; k < cards.size(); ++k)
    layer.cards.push_back(card_from(reader.inside(fmt::format("cards[{}]", k), cards[k])));
  return layer;
}

std::vector<std::vector<int64_t>> confusion_from(const Reader& reader) {
  const json& rows = reader.optional_list("confusion");
  std::vector<std::vector<int64_t>> confusion;
  for (const json& row : rows) {
    reader.check(row.is_array() && row.size() == rows.size(), "confusion", row,
                 "rows as long as there are rows");
    auto& counts = confusion.emplace_back();
    for (const json& value : row) counts.push_back(reader.count(value, "confusion"));
  }
  return confusion;
}

json finding_json(const Finding& finding) {
  json object = finding.facts;
  object["value"] = finding.value;
  object["low"] = finding.low;
  object["high"] = finding.high;
  object["controls"] = finding.controls;
  return object;
}

json card_json(const Card& card) {
  json object{{"filter", card.filter},
              {"chosen", card.chosen},
              {"category", card.category},
              {"part", card.part},
              {"part_interpretability", card.part_interpretability},
              {"instability", card.instability},
              {"ratio", card.ratio},
              {"mean_peak", card.mean_peak}};
  if (!card.picture.empty()) {
    object["picture"] = card.picture;
    object["picture_alt"] = card.picture_alt;
  }
  return object;
}

template <typename T>
void add_known(json& object, const char* key, const T& value) {
  if (!value.empty()) object[key] = value;
}

void add_known(json& object, const char* key, const std::optional<int64_t>& value) {
  if (value) object[key] = *value;
}

json layer_json(const LayerFindings& layer) {
  json object{{"layer", layer.layer},
              {"unit_stride", layer.unit_stride},
              {"unit_offset", layer.unit_offset},
              {"dead_share", layer.dead_share},
              {"silent_share", layer.silent_share},
              {"filters_per_category", layer.filters_per_category}};
  add_known(object, "role", layer.role);
  add_known(object, "side", layer.side);
  add_known(object, "filters", layer.filters);
  add_known(object, "input_side", layer.input_side);
  for (const auto& [key, finding] : layer.findings) {
    object[key] = finding_json(finding);
    object[key]["layer"] = layer.layer;
  }
  for (const auto& card : layer.cards) object["cards"].push_back(card_json(card));
  return object;
}

// nlohmann writes NaN as null; in memory it must be null too, so that what was read equals what is
// written.
void nan_to_null(json& value) {
  if (value.is_structured()) {
    for (auto& inner : value) nan_to_null(inner);
  } else if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    value = nullptr;
  }
}

}  // namespace

RunFindings findings_from_json(const json& json_findings, const std::string& place) {
  const Reader reader(json_findings, place, "");
  const auto format = reader.optional_count("format");
  ensure(format == 1,
         "{}: format {} is not 1, the one this program reads; measure again: partwise measure RUN",
         place, format ? std::to_string(*format) : "(missing)");
  RunFindings run;
  run.net = reader.required_text("net");
  run.arm = reader.required_text("arm");
  run.task = reader.optional_text("task");
  run.loss = reader.optional_text("loss");
  run.split = reader.optional_text("split");
  run.checkpoint = reader.optional_text("checkpoint");
  run.data_hash = reader.optional_text("data_hash");
  run.rows = reader.optional_count("rows").value_or(0);
  run.train_rows = reader.optional_count("train_rows");
  run.training_images = reader.optional_count("training_images");
  run.categories = reader.names("categories");
  run.classes = reader.names("classes");
  if (const json* options = reader.find("options"))
    run.options = reader.inside("options", *options).object();
  reader.at("accuracy", json::value_t::object);
  run.findings = findings_from(reader);
  run.confusion = confusion_from(reader);
  const json& layers = reader.at("layers", json::value_t::array);
  for (std::size_t k = 0; k < layers.size(); ++k)
    run.layers.push_back(layer_from(reader.inside(fmt::format("layers[{}]", k), layers[k])));
  return run;
}

json to_json(const RunFindings& run) {
  json object{{"format", 1},
              {"net", run.net},
              {"task", run.task},
              {"split", run.split},
              {"rows", run.rows},
              {"categories", run.categories},
              {"layers", json::array()}};
  add_known(object, "arm", run.arm);
  add_known(object, "loss", run.loss);
  add_known(object, "checkpoint", run.checkpoint);
  add_known(object, "data_hash", run.data_hash);
  add_known(object, "train_rows", run.train_rows);
  add_known(object, "training_images", run.training_images);
  add_known(object, "classes", run.classes);
  add_known(object, "options", run.options);
  add_known(object, "confusion", run.confusion);
  if (!run.category_from.empty()) {
    object["category_from"] = run.category_from;
    object["notes"] = run.notes;
  }
  for (const auto& [key, finding] : run.findings) object[key] = finding_json(finding);
  for (const auto& layer : run.layers) object["layers"].push_back(layer_json(layer));
  nan_to_null(object);
  return object;
}

std::optional<RunFindings> read_findings(const runs::RunFolder& run) {
  const auto path = run.path() / "findings.json";
  if (!fs::exists(path)) return std::nullopt;
  const auto json_findings = read_json(path);
  auto findings = findings_from_json(json_findings, path.string());
  findings.without_draws = add_draws(run.path(), json_findings, findings);
  if (findings.data_hash.empty()) findings.data_hash = run.manifest().value("data_hash", "");
  return findings;
}

void write_findings(const runs::RunFolder& run, const RunFindings& findings) {
  auto object = to_json(findings);
  object["draws"] = write_draws(run.path(), findings);
  write_json_atomically(run.path() / "findings.json", object);
}

RunFindings require_findings(const runs::RunFolder& run) {
  auto findings = read_findings(run);
  ensure(findings.has_value(), "{0}: has not been measured; run: partwise measure {0}",
         run.path().string());
  return std::move(*findings);
}

const Finding* find_finding(const Findings& findings, const std::string& key) {
  const auto entry = findings.find(key);
  return entry == findings.end() ? nullptr : &entry->second;
}

const Finding* find_finding(const RunFindings& run,
                            const std::string& role,
                            const std::string& key) {
  if (role.empty()) return find_finding(run.findings, key);
  const auto* layer = find_layer(run, role);
  return layer == nullptr ? nullptr : find_finding(layer->findings, key);
}

const LayerFindings* find_layer(const RunFindings& run, const std::string& role) {
  const auto layer = std::find_if(run.layers.begin(), run.layers.end(),
                                  [&](const LayerFindings& one) { return one.role == role; });
  return layer == run.layers.end() ? nullptr : &*layer;
}

std::vector<std::pair<std::string, Shares>> part_shares(const Finding& finding) {
  std::vector<std::pair<std::string, Shares>> all;
  const auto shares = finding.facts.find("share_of_filters");
  if (shares == finding.facts.end() || !shares->is_object()) return all;
  for (const auto& [category, parts] : shares->items()) {
    auto& entry = all.emplace_back(category, Shares{}).second;
    if (!parts.is_object()) continue;
    for (const auto& [part, share] : parts.items())
      entry.emplace_back(part, share.is_number() ? share.get<double>() : kNaN);
  }
  return all;
}

std::size_t arm_rank(const std::string& arm) {
  static const std::array<std::string, kArms> arms{"ordinary", "ordinary+layer", "masked",
                                                   "interpretable"};
  return static_cast<std::size_t>(std::find(arms.begin(), arms.end(), arm) - arms.begin());
}

}  // namespace partwise::findings
