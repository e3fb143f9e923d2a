#include "partwise/report/csv.h"

#include <fmt/format.h>

namespace partwise::report {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string field(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string findings_csv(std::span<const NamedFindings> runs) {
  std::string csv =
      "run,net,arm,task,split,images,training_images,layer,metric,kind,value,low,high\n";
  for (const auto& [name, run] : runs) {
    const auto start =
        fmt::format("{},{},{},{},{},{},{}", quoted(name), quoted(run.net), quoted(run.arm),
                    quoted(run.task), quoted(run.split), run.rows, run.training_images.value_or(0));
    const auto add = [&](const std::string& layer, const auto& measures) {
      for (const auto& [key, measure] : measures) {
        const auto place = fmt::format("{},{},{}", start, quoted(layer), quoted(key));
        csv += fmt::format("{},measured,{},{},{}\n", place, field(measure.value),
                           field(measure.low), field(measure.high));
        for (const auto& [control, value] : measure.controls)
          csv += fmt::format("{},{},{},,\n", place, quoted(control), field(value));
      }
    };
    add("", run.measures);
    for (const auto& layer : run.layers) add(layer.layer, layer.measures);
  }
  return csv;
}

}  // namespace partwise::report
