#include "partwise/training/rates.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <charconv>
#include <fnmatch.h>
#include <sstream>

namespace partwise::training {
namespace {

struct Rate {
  std::string name;
  double factor = 1.0;
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<Rate> rates_of(const std::string& text) {
  std::vector<Rate> rates;
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const auto equals = entry.find('=');
    const auto number = equals == std::string::npos ? "" : trimmed(entry.substr(equals + 1));
    Rate rate{trimmed(entry.substr(0, equals)), 0.0};
    const auto* end = number.data() + number.size();
    const auto read = std::from_chars(number.data(), end, rate.factor);
    ensure(!rate.name.empty() && !number.empty() && read.ec == std::errc() && read.ptr == end &&
               rate.factor >= 0.0 && rate.factor <= 1e6,
           "rates: '{}' is not name=multiple, as in 'new=10, fc*=10, *.bias=2'", trimmed(entry));
    rates.push_back(std::move(rate));
  }
  return rates;
}

bool fits(const std::string& pattern, const std::string& parameter) {
  const auto matches = [&](const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  return matches(parameter) || matches(parameter.substr(0, parameter.rfind('.')));
}

std::vector<std::string> parameters_of(const networks::Layer& layer) {
  const auto* convolution = std::get_if<networks::Convolution>(&layer.operation);
  const bool has_weight = convolution ||
                          std::holds_alternative<networks::Linear>(layer.operation) ||
                          std::holds_alternative<networks::BatchNorm>(layer.operation);
  if (!has_weight) return {};
  if (convolution && !convolution->bias) return {layer.name + ".weight"};
  return {layer.name + ".weight", layer.name + ".bias"};
}

}  // namespace

std::map<std::string, double> rate_factors(const TrainOptions& options,
                                           const networks::Architecture& architecture) {
  std::map<std::string, double> factors;
  std::vector<std::string> known{"new.weight", "new.bias"};  // absent from the ordinary arm
  for (std::size_t i = 0; i < architecture.layers.size(); ++i) {
    const bool old = static_cast<int64_t>(i) < architecture.taps.front().relu;
    for (const auto& name : parameters_of(architecture.layers[i])) {
      factors[name] = old ? options.backbone_rate : 1.0;
      known.push_back(name);
    }
  }
  for (const auto& rate : rates_of(options.rates)) {
    ensure(std::any_of(known.begin(), known.end(),
                       [&](const auto& name) { return fits(rate.name, name); }),
           "rates: no layer or parameter of {} fits '{}' (did you mean '{}'?)", architecture.net,
           rate.name, nearest_name(rate.name, known));
    for (auto& [name, factor] : factors) {
      if (fits(rate.name, name)) factor = rate.factor;
    }
  }
  return factors;
}

}  // namespace partwise::training
