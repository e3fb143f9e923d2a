#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace partwise::runs {

struct Scalar {
  std::string name;
  double value = 0.0;
};

// Every number of a row of log.jsonl under one flat name: "loss", "validation/accuracy"; of an
// entry of `layers` "conv4/purity", of a list "conv4/filters_per_category.0". The order is the
// row's own. What is no number (null: it does not exist) is left out.
std::vector<Scalar> scalars_of(const nlohmann::json& row);

// The number under a name of the row itself; 0 where there is none.
double scalar_at(const nlohmann::json& row, const char* name);

// The rows as a table: a header, `epoch` first and the other names in the order they first appear,
// then one line per row; a cell is empty where the row lacks the number. Numbers keep all their
// digits.
std::string log_csv(const std::vector<nlohmann::json>& rows);

// TensorBoard finds event files by "tfevents" in their name.
inline constexpr auto kEventFile = "events.out.tfevents.partwise";

// One TFRecord: the length (8 bytes, little-endian), its masked CRC-32C (4), the data, their masked
// CRC-32C (4); a CRC c is masked as rotate_right(c, 15) + 0xA282EAD8.
std::string tf_record(std::string_view data);

// The rows of log.jsonl as TensorBoard reads them: a record with the format's version, then a
// record a row, an Event of step `epoch` whose Summary holds the row's scalars. An event's wall
// time is `start` (seconds since 1970) plus the `seconds` of the epochs up to it: the bytes are a
// function of the arguments, and those of more rows begin with those of fewer.
std::string event_file(const std::vector<nlohmann::json>& rows, double start);

}  // namespace partwise::runs
