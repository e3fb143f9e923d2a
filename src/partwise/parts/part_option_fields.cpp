#include "partwise/parts/part_option_fields.h"

namespace partwise::parts {
namespace {

// Interpretable CNNs for Object Classification, TPAMI 2020. Its lambda is proportional to
// E[max x] / t; the factor is not given.
PartOptions paper() {
  PartOptions options;
  options.method = Method::paper;
  options.rule = Rule::paper;
  options.exponent = Exponent::raw;
  options.misfits = Misfits::reversed;
  options.balance = Balance::none;
  options.strength = 1.0;
  options.strength_unit = StrengthUnit::peak;
  options.schedule = StrengthSchedule::inverse;
  options.guard = Guard::off;
  return options;
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
  options.misfits = Misfits::reversed;
  options.balance = Balance::category;
  options.strength = 1e-6;
  options.strength_unit = StrengthUnit::absolute;
  options.schedule = StrengthSchedule::inverse;
  options.guard = Guard::off;
  return options;
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

double temperature_of(const PartOptions& options) {
  if (options.temperature > 0.0) return options.temperature;
  if (options.exponent == Exponent::scale_free) return 0.05;
  switch (options.rule) {
    case Rule::release:
      return 0.5;
    case Rule::paper:
    case Rule::exact:
      return 2.0;
  }
  return 2.0;
}

}  // namespace partwise::parts
