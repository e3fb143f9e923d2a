#include "partwise/report/findings.h"

#include "partwise/base/error.h"

#include <algorithm>

namespace partwise::report {

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

  std::optional<double> optional_number(const std::string& key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
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

Measure measure_from(const Reader& reader) {
  Measure measure;
  measure.value = reader.optional_number("value");
  measure.low = reader.optional_number("low");
  measure.high = reader.optional_number("high");
  if (measure.low && measure.high) {
    reader.check(*measure.low <= *measure.high, "low", reader.object().at("low"),
                 "a number not above high");
  }
  for (const auto& [key, value] : reader.object().items()) {
    const bool own = key == "value" || key == "low" || key == "high";
    if (!own && value.is_number()) measure.further[key] = value.get<double>();
  }
  if (const json* controls = reader.find("controls")) {
    const Reader inner = reader.inside("controls", *controls);
    for (const auto& [name, value] : controls->items()) {
      measure.controls[name] = inner.optional_number(name);
    }
  }
  return measure;
}

std::map<std::string, Measure> measures_from(const Reader& reader) {
  std::map<std::string, Measure> measures;
  for (const auto& [key, value] : reader.object().items()) {
    if (value.is_object() && value.contains("value")) {
      measures[key] = measure_from(reader.inside(key, value));
    }
  }
  return measures;
}

std::vector<std::pair<std::string, PartShares>> part_shares_from(const Reader& layer) {
  std::vector<std::pair<std::string, PartShares>> all;
  const json* labels = layer.find("part_label_iou");
  if (labels == nullptr) return all;
  const Reader of_labels = layer.inside("part_label_iou", *labels);
  const json* shares = of_labels.find("share_of_filters");
  if (shares == nullptr) return all;
  const Reader by_category = of_labels.inside("share_of_filters", *shares);
  for (const auto& [category, parts] : shares->items()) {
    const Reader by_part = by_category.inside(category, parts);
    auto& entry = all.emplace_back(category, PartShares{}).second;
    for (const auto& item : parts.items())
      entry.emplace_back(item.key(), by_part.optional_number(item.key()));
  }
  return all;
}

Card card_from(const Reader& reader) {
  Card card;
  card.filter = reader.count(reader.object().value("filter", json()), "filter");
  card.category = reader.optional_text("category");
  card.part = reader.optional_text("part");
  card.chosen = reader.optional_text("chosen");
  card.part_interpretability = reader.optional_number("part_interpretability");
  card.instability = reader.optional_number("instability");
  card.ratio = reader.optional_number("ratio");
  card.mean_peak = reader.optional_number("mean_peak");
  card.picture = reader.optional_text("picture");
  card.picture_alt = reader.optional_text("picture_alt");
  return card;
}

void require_measures(const Reader& reader) {
  for (const char* key :
       {"purity", "location_instability", "instability_ratio", "part_interpretability"}) {
    if (const json* value = reader.find(key)) {
      const bool fits = value->is_object() && value->contains("value");
      reader.check(fits, key, *value, "an object with value, low, high and controls");
    }
  }
}

LayerFindings layer_from(const Reader& reader) {
  LayerFindings layer;
  layer.layer = reader.required_text("layer");
  layer.role = reader.optional_text("role");
  layer.side = reader.optional_count("side");
  layer.filters = reader.optional_count("filters");
  layer.dead_share = reader.optional_number("dead_share");
  require_measures(reader);
  layer.measures = measures_from(reader);
  layer.part_shares = part_shares_from(reader);
  if (const json* counts = reader.find("filters_per_category")) {
    const Reader inner = reader.inside("filters_per_category", *counts);
    for (const auto& [name, value] : counts->items()) {
      layer.filters_per_category.emplace_back(name, inner.count(value, name));
    }
  }
  const json& cards = reader.optional_list("cards");
  for (std::size_t k = 0; k < cards.size(); ++k) {
    layer.cards.push_back(card_from(reader.inside(fmt::format("cards[{}]", k), cards[k])));
  }
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
  run.rows = reader.optional_count("rows").value_or(0);
  run.train_rows = reader.optional_count("train_rows");
  run.training_images = reader.optional_count("training_images");
  const json& categories = reader.optional_list("categories");
  for (const json& category : categories) {
    reader.check(category.is_string(), "categories", category, "names");
    run.categories.push_back(category.get<std::string>());
  }
  reader.at("accuracy", json::value_t::object);
  run.measures = measures_from(reader);
  run.confusion = confusion_from(reader);
  const json& layers = reader.at("layers", json::value_t::array);
  for (std::size_t k = 0; k < layers.size(); ++k) {
    run.layers.push_back(layer_from(reader.inside(fmt::format("layers[{}]", k), layers[k])));
  }
  return run;
}

const Measure* find_measure(const std::map<std::string, Measure>& measures,
                            const std::string& key) {
  const auto entry = measures.find(key);
  return entry == measures.end() ? nullptr : &entry->second;
}

const LayerFindings* find_layer(const RunFindings& run, const std::string& role) {
  const auto layer = std::find_if(run.layers.begin(), run.layers.end(),
                                  [&](const LayerFindings& one) { return one.role == role; });
  return layer == run.layers.end() ? nullptr : &*layer;
}

}  // namespace partwise::report
