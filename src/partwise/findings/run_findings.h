#pragma once

#include "partwise/metrics/finding.h"
#include "partwise/runs/training_moment.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partwise::findings {

using metrics::Finding;
using metrics::Findings;

// One filter with the pictures it fires on. Numbers that do not exist are NaN.
struct Card {
  int64_t filter = 0;
  std::string category;
  std::string part;    // "" where the data names none
  std::string chosen;  // "best", "random", "worst" or "": not said
  double part_interpretability = std::numeric_limits<double>::quiet_NaN();
  // The same where the peaks come from, not where they fire; where it was asked for.
  std::string evidence_part = {};
  double evidence_interpretability = std::numeric_limits<double>::quiet_NaN();
  double instability = std::numeric_limits<double>::quiet_NaN();
  double ratio = std::numeric_limits<double>::quiet_NaN();
  double mean_peak = std::numeric_limits<double>::quiet_NaN();
  std::string picture;  // below the run's folder; "" for none
  std::string picture_alt;
};

inline constexpr const char* kTopLayer = "top layer of the backbone";
inline constexpr const char* kNewLayer = "new layer";

struct LayerFindings {
  std::string layer;
  std::string role;  // "" where nothing is known of the network
  std::optional<int64_t> side;
  std::optional<int64_t> filters;
  std::optional<int64_t> input_side;
  double unit_stride = std::numeric_limits<double>::quiet_NaN();
  double unit_offset = std::numeric_limits<double>::quiet_NaN();
  double dead_share = std::numeric_limits<double>::quiet_NaN();
  double empty_share = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, int64_t> filters_per_category;
  Findings findings;
  std::vector<Card> cards;
};

// Everything that was found out about one network, and on what; docs/findings.md has the keys.
struct RunFindings {
  std::string net;
  std::string arm;
  std::string task;
  std::string loss;
  std::string split;
  std::string checkpoint;
  std::optional<runs::TrainingMoment> moment = {};  // the checkpoint's; nothing: not known
  std::string data_hash;                            // of the dataset measured on; "": not known
  std::string images_hash = {};  // of the sizes of its image files; "": not known
  int64_t rows = 0;
  std::optional<int64_t> train_rows;
  std::optional<int64_t> training_images;  // among the rows
  std::vector<std::string> categories;
  std::vector<std::string> classes;
  nlohmann::json options = nlohmann::json::object();  // of measuring, the bootstrap's included
  Findings findings;                                  // of the whole network
  std::vector<std::vector<int64_t>> confusion;        // [truth][predicted]; may be empty
  std::vector<LayerFindings> layers = {};
  std::string category_from = {};       // of a referee's: who said what filters stand for
  std::vector<std::string> notes = {};  // of a referee's
  std::string without_draws = {};       // why the draws are not there; "" where they are
};

// A run and what to call it.
struct NamedFindings {
  std::string name;
  RunFindings findings;
};

// findings.json, checked: whatever is missing or of the wrong type is an Error that begins with
// `place`, names the field and says how to measure again. Every object with a "value" is taken as a
// finding, so that new ones need no change here. Findings of a layer may be missing.
RunFindings findings_from_json(const nlohmann::json& json, const std::string& place);

// The draws are not part of it; NaN becomes null.
nlohmann::json to_json(const RunFindings& findings);

// nullptr where it was not measured; role "": the whole network.
const Finding* find_finding(const Findings& findings, const std::string& key);
const Finding* find_finding(const RunFindings& run,
                            const std::string& role,
                            const std::string& key);
// Of the whole network or of a layer.
bool was_measured(const RunFindings& run, const std::string& key);
// On the dataset of this record (models::data_record), as far as both are known.
bool was_measured_on(const RunFindings& run, const nlohmann::json& data);
const LayerFindings* find_layer(const RunFindings& run, const std::string& role);

// Of a finding of part labels: by category, the share of its filters named after each part.
using Shares = std::vector<std::pair<std::string, double>>;
std::vector<std::pair<std::string, Shares>> part_shares(const Finding& finding);

// From the plainest arm to the full method; one past the end for one this program does not know.
std::size_t arm_rank(const std::string& arm);
inline constexpr std::size_t kArms = 4;

}  // namespace partwise::findings
