#include "partwise/findings/run_findings.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <type_traits>
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

  // What is there, whatever its type; a member that is missing stays as it is, a number becomes
  // NaN.
  void read(const std::string& key, std::string& value) const {
    if (find(key) != nullptr) value = at(key, json::value_t::string).get<std::string>();
  }

  void read(const std::string& key, double& value) const { value = number(key); }

  void read(const std::string& key, std::optional<int64_t>& value) const {
    value = optional_count(key);
  }

  void read(const std::string& key, std::vector<std::string>& names) const {
    for (const json& name : optional_list(key)) {
      check(name.is_string(), key, name, "names");
      names.push_back(name.get<std::string>());
    }
  }

  void read(const std::string& key, std::map<std::string, int64_t>& counts) const {
    const json* object = find(key);
    if (object == nullptr) return;
    const Reader inner = inside(key, *object);
    for (const auto& [name, value] : object->items()) counts[name] = inner.count(value, name);
  }

  void read(const std::string& key, std::vector<std::vector<int64_t>>& square) const {
    const json& rows = optional_list(key);
    for (const json& row : rows) {
      check(row.is_array() && row.size() == rows.size(), key, row,
            "rows as long as there are rows");
      auto& counts = square.emplace_back();
      for (const json& value : row) counts.push_back(count(value, key));
    }
  }

  void read(const std::string& key, json& object) const {
    if (find(key) != nullptr) object = at(key, json::value_t::object);
  }

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
    return find(key) == nullptr ? nothing : at(key, json::value_t::array);
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

// A member and its key in the file. What is empty is not written, unless `always`.
template <typename Owner, typename T>
struct Key {
  const char* name;
  T Owner::*member;
  bool always = false;
};
template <typename Owner, typename T>
Key(const char*, T Owner::*, bool = false) -> Key<Owner, T>;

auto keys_of(const Card&) {
  return std::tuple{Key{"category", &Card::category, true},
                    Key{"part", &Card::part, true},
                    Key{"chosen", &Card::chosen, true},
                    Key{"part_interpretability", &Card::part_interpretability},
                    Key{"evidence_part", &Card::evidence_part},
                    Key{"evidence_interpretability", &Card::evidence_interpretability},
                    Key{"instability", &Card::instability},
                    Key{"ratio", &Card::ratio},
                    Key{"mean_peak", &Card::mean_peak},
                    Key{"picture", &Card::picture},
                    Key{"picture_alt", &Card::picture_alt}};
}

auto keys_of(const LayerFindings&) {
  return std::tuple{Key{"role", &LayerFindings::role},
                    Key{"side", &LayerFindings::side},
                    Key{"filters", &LayerFindings::filters},
                    Key{"input_side", &LayerFindings::input_side},
                    Key{"unit_stride", &LayerFindings::unit_stride},
                    Key{"unit_offset", &LayerFindings::unit_offset},
                    Key{"dead_share", &LayerFindings::dead_share},
                    Key{"empty_share", &LayerFindings::empty_share},
                    Key{"filters_per_category", &LayerFindings::filters_per_category, true}};
}

auto keys_of(const RunFindings&) {
  return std::tuple{Key{"net", &RunFindings::net, true},
                    Key{"arm", &RunFindings::arm},
                    Key{"task", &RunFindings::task, true},
                    Key{"loss", &RunFindings::loss},
                    Key{"split", &RunFindings::split, true},
                    Key{"checkpoint", &RunFindings::checkpoint},
                    Key{"data_hash", &RunFindings::data_hash},
                    Key{"images_hash", &RunFindings::images_hash},
                    Key{"train_rows", &RunFindings::train_rows},
                    Key{"training_images", &RunFindings::training_images},
                    Key{"categories", &RunFindings::categories, true},
                    Key{"classes", &RunFindings::classes},
                    Key{"options", &RunFindings::options},
                    Key{"confusion", &RunFindings::confusion},
                    Key{"category_from", &RunFindings::category_from}};
}

template <typename Owner>
void read_keys(const Reader& reader, Owner& owner) {
  std::apply([&](const auto&... key) { (reader.read(key.name, owner.*key.member), ...); },
             keys_of(owner));
}

template <typename Owner>
void write_keys(const Owner& owner, json& object) {
  const auto write = [&](const auto& key) {
    const auto& value = owner.*key.member;
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::optional<int64_t>>) {
      if (value) object[key.name] = *value;
    } else if constexpr (std::is_same_v<T, double>) {
      object[key.name] = value;
    } else if (key.always || !value.empty()) {
      object[key.name] = value;
    }
  };
  std::apply([&](const auto&... key) { (write(key), ...); }, keys_of(owner));
}

LayerFindings layer_from(const Reader& reader) {
  LayerFindings layer;
  layer.layer = reader.required_text("layer");
  layer.findings = findings_from(reader);
  read_keys(reader, layer);
  const json& cards = reader.optional_list("cards");
  for (std::size_t k = 0; k < cards.size(); ++k) {
    const auto inner = reader.inside(fmt::format("cards[{}]", k), cards[k]);
    auto& card = layer.cards.emplace_back();
    card.filter = inner.count(inner.object().value("filter", json()), "filter");
    read_keys(inner, card);
  }
  return layer;
}

json finding_json(const Finding& finding) {
  json object = finding.facts;
  object["value"] = finding.value;
  object["low"] = finding.low;
  object["high"] = finding.high;
  object["controls"] = finding.controls;
  return object;
}

json layer_json(const LayerFindings& layer) {
  json object{{"layer", layer.layer}};
  write_keys(layer, object);
  for (const auto& [key, finding] : layer.findings) {
    object[key] = finding_json(finding);
    object[key]["layer"] = layer.layer;
  }
  for (const auto& card : layer.cards) {
    json of_filter{{"filter", card.filter}};
    write_keys(card, of_filter);
    object["cards"].push_back(std::move(of_filter));
  }
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
  reader.required_text("net");
  reader.required_text("arm");
  read_keys(reader, run);
  run.rows = reader.optional_count("rows").value_or(0);
  if (const auto epoch = reader.optional_count("epoch"))
    run.moment = runs::TrainingMoment{*epoch, reader.optional_count("step").value_or(0)};
  reader.at("accuracy", json::value_t::object);
  run.findings = findings_from(reader);
  const json& layers = reader.at("layers", json::value_t::array);
  for (std::size_t k = 0; k < layers.size(); ++k)
    run.layers.push_back(layer_from(reader.inside(fmt::format("layers[{}]", k), layers[k])));
  return run;
}

json to_json(const RunFindings& run) {
  json object{{"format", 1}, {"rows", run.rows}, {"layers", json::array()}};
  write_keys(run, object);
  if (run.moment) object.update({{"epoch", run.moment->epoch}, {"step", run.moment->step}});
  if (!run.category_from.empty()) object["notes"] = run.notes;
  for (const auto& [key, finding] : run.findings) object[key] = finding_json(finding);
  for (const auto& layer : run.layers) object["layers"].push_back(layer_json(layer));
  nan_to_null(object);
  return object;
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

bool was_measured(const RunFindings& run, const std::string& key) {
  return run.findings.contains(key) ||
         std::any_of(run.layers.begin(), run.layers.end(),
                     [&](const LayerFindings& layer) { return layer.findings.contains(key); });
}

bool was_measured_on(const RunFindings& run, const nlohmann::json& data) {
  const auto is_now = [&](const std::string& then, const char* key) {
    return then.empty() || then == data.at(key).get<std::string>();
  };
  return is_now(run.data_hash, "data_hash") && is_now(run.images_hash, "images_hash");
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
