#include "partwise/runs/log_scalars.h"

#include "partwise/base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace partwise::runs {
namespace {

std::string below(const std::string& place, const std::string& name) {
  return place.empty() ? name : place + "/" + name;
}

void collect(const nlohmann::json& json, const std::string& place, std::vector<Scalar>& found) {
  if (json.is_number()) {
    found.push_back({place, json.get<double>()});
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i)
      collect(json[i], fmt::format("{}.{}", place, i), found);
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (key != "layers") {
        collect(value, below(place, key), found);
        continue;
      }
      for (const auto& layer : value) {
        const auto name = layer.is_object() ? layer.value("layer", nlohmann::json()) : layer;
        if (name.is_string()) collect(layer, below(place, name.get<std::string>()), found);
      }
    }
  }
}

}  // namespace

std::vector<Scalar> scalars_of(const nlohmann::json& row) {
  std::vector<Scalar> found;
  collect(row, "", found);
  return found;
}

double scalar_at(const nlohmann::json& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_number() ? found->get<double>() : 0.0;
}

std::string log_csv(const std::vector<nlohmann::json>& rows) {
  std::vector<std::string> names{"epoch"};
  std::vector<std::map<std::string, double>> lines;
  for (const auto& row : rows) {
    auto& line = lines.emplace_back();
    for (const auto& [name, value] : scalars_of(row)) {
      line[name] = value;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::string text = join(names, ",");
  for (const auto& line : lines) {
    text += '\n';
    for (const auto& name : names) {
      if (&name != &names.front()) text += ',';
      if (const auto cell = line.find(name); cell != line.end())
        text += fmt::format("{}", cell->second);
    }
  }
  return text + '\n';
}

}  // namespace partwise::runs
