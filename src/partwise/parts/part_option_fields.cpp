#include "partwise/parts/part_option_fields.h"

namespace partwise::parts {
namespace {

// What neither publication has.
PartOptions without_ours(PartOptions options) {
  options.new_kernel = 3;
  options.mask_warmup = 0.0;
  options.loudness = Loudness::free;
  options.vote = 0.0;
  options.keep_alive = 0.0;
  options.guard = Guard::off;
  return options;
}

// Interpretable CNNs for Object Classification, TPAMI 2020. Its lambda is proportional to
// E[max x] / t; the factor is not given.
PartOptions paper() {
  PartOptions options;
  options.method = Method::paper;
  options.rule = Rule::paper;
  options.exponent = Exponent::raw;
  options.weight_limit = 0.0;
  options.balance = Balance::none;
  options.assignment = Assignment::absolute;
  options.strength = 1.0;
  options.strength_unit = StrengthUnit::peak;
  options.schedule = StrengthSchedule::inverse;
  return without_ours(options);
}

// The authors' MATLAB code.
PartOptions release() {
  PartOptions options;
  options.method = Method::release;
  options.mask_place = MaskPlace::after_pooling;
  options.beta_rule = BetaRule::learned;
  options.peak = Peak::centroid;
  options.rule = Rule::release;
  options.exponent = Exponent::raw;
  options.weight_limit = 0.0;
  options.balance = Balance::dataset;
  options.assignment = Assignment::peak;
  options.category_memory = 0.9;
  options.strength = 1e-6;
  options.strength_unit = StrengthUnit::absolute;
  options.schedule = StrengthSchedule::inverse;
  return without_ours(options);
}

}  // namespace

PartOptions method_options(Method method) {
  switch (method) {
    case Method::partwise:
      return {};
    case Method::paper:
      return paper();
    case Method::release:
      return release();
  }
  return {};
}

PartOptions part_options_from(const nlohmann::json& json, const std::string& place) {
  PartOptions named;
  if (json.contains("method")) merge_json(named, {{"method", json["method"]}}, place);
  auto options = method_options(named.method);
  merge_json(options, json, place);
  return options;
}

nlohmann::json completed_record(nlohmann::json record) {
  const nlohmann::json before{
      {"new_kernel", 3},      {"mask_warmup", 0.0},       {"marginal", "uniform"},
      {"weight_limit", 10.0}, {"assignment", "absolute"}, {"loudness", "free"},
      {"vote", 0.0},          {"keep_alive", 0.0}};
  for (const auto& [key, value] : before.items())
    if (!record.contains(key)) record[key] = value;
  // An option for one day, which brought nothing.
  if (record.contains("pull_beta") && record["pull_beta"] == 0.0) record.erase("pull_beta");
  return record;
}

double temperature_of(const PartOptions& options) {
  if (options.temperature > 0.0) return options.temperature;
  if (options.exponent == Exponent::scale_free) return 0.05;
  switch (options.rule) {
    case Rule::release:
      return 0.5;
    case Rule::paper:
    case Rule::paper_all:
    case Rule::exact:
      return 2.0;
  }
  return 2.0;
}

}  // namespace partwise::parts
