#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partwise::report {

// A number with its 95 % interval; nothing where it is not defined.
struct Measure {
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  std::map<std::string, std::optional<double>> controls;
  std::map<std::string, double> further = {};  // its other numbers: counts, shares
};

// Share of filters by part, in the findings' order.
using PartShares = std::vector<std::pair<std::string, std::optional<double>>>;

// One filter with the pictures it fires on.
struct Card {
  int64_t filter = 0;
  std::string category;
  std::string part;    // "" where the data names none
  std::string chosen;  // "best", "random", "worst" or "": not said
  std::optional<double> part_interpretability;
  std::optional<double> instability;
  std::optional<double> ratio;
  std::optional<double> mean_peak;
  std::string picture;  // below the run's folder; "" for none
  std::string picture_alt;
};

inline constexpr const char* kTopLayer = "top layer of the backbone";
inline constexpr const char* kNewLayer = "new layer";

struct LayerFindings {
  std::string layer;
  std::string role;
  std::optional<int64_t> side;
  std::optional<int64_t> filters;
  std::optional<double> dead_share;
  std::map<std::string, Measure> measures;
  std::vector<std::pair<std::string, int64_t>> filters_per_category;
  std::vector<std::pair<std::string, PartShares>> part_shares;  // by category; may be empty
  std::vector<Card> cards;
};

struct RunFindings {
  std::string net;
  std::string arm;
  std::string task;
  std::string loss;
  std::string split;
  int64_t rows = 0;
  std::optional<int64_t> train_rows;
  std::optional<int64_t> training_images;  // among the rows
  std::vector<std::string> categories;
  std::map<std::string, Measure> measures;      // accuracy, balanced_accuracy, …
  std::vector<std::vector<int64_t>> confusion;  // [truth][predicted]; may be empty
  std::vector<LayerFindings> layers;
};

// findings.json, checked: whatever is missing or of the wrong type is an Error that begins with
// `place`, names the field and says how to measure again. Every object with a "value" is taken as a
// measure, so that new ones need no change here. Measures of a layer may be missing.
RunFindings findings_from_json(const nlohmann::json& json, const std::string& place);

// nullptr where it was not measured.
const Measure* find_measure(const std::map<std::string, Measure>& measures, const std::string& key);
const LayerFindings* find_layer(const RunFindings& run, const std::string& role);

}  // namespace partwise::report
