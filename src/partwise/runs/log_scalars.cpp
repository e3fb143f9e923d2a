#include "partwise/runs/log_scalars.h"

#include "partwise/base/names.h"
#include "partwise/formats/protobuf_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
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

// Field numbers of tensorflow.Event and tensorflow.Summary.
enum EventField { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum SummaryField { kValue = 1 };
enum ValueField { kTag = 1, kSimpleValue = 2 };

// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, here reflected).
uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

template <typename Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes.push_back(static_cast<char>(value >> (8U * i) & 0xFFU));
  return bytes;
}

std::string masked_crc(std::string_view bytes) {
  return little_endian(std::rotr(crc32c(bytes), 15) + 0xA282EAD8U);
}

std::string version_event(double time) {
  formats::ProtobufWriter event;
  event.wide_real(kWallTime, time);
  event.text(kFileVersion, "brain.Event:2");
  return event.take();
}

std::string row_event(const nlohmann::json& row, double time) {
  formats::ProtobufWriter event;
  event.wide_real(kWallTime, time);
  event.integer(kStep, std::llround(scalar_at(row, "epoch")));
  event.message(kSummary, [&] {
    for (const auto& [name, value] : scalars_of(row)) {
      if (name == "epoch") continue;
      event.message(kValue, [&, &tag = name, number = value] {
        event.text(kTag, tag);
        event.real(kSimpleValue, static_cast<float>(number));
      });
    }
  });
  return event.take();
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

std::string tf_record(std::string_view data) {
  const auto length = little_endian(static_cast<uint64_t>(data.size()));
  std::string record = length + masked_crc(length);
  record += data;
  return record + masked_crc(data);
}

std::string event_file(const std::vector<nlohmann::json>& rows, double start) {
  double time = start;
  auto bytes = tf_record(version_event(time));
  for (const auto& row : rows) {
    time += scalar_at(row, "seconds");
    bytes += tf_record(row_event(row, time));
  }
  return bytes;
}

}  // namespace partwise::runs
