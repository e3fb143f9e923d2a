#include "partwise/models/checkpoint.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/names.h"
#include "partwise/base/progress.h"
#include "partwise/formats/safetensors.h"
#include "partwise/networks/tensor_file.h"
#include "partwise/runs/log_scalars.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <sstream>

namespace partwise::models {

namespace fs = std::filesystem;

namespace {

constexpr auto kNext = "next.safetensors";
constexpr auto kLast = "last.safetensors";
constexpr auto kPrevious = "previous.safetensors";
constexpr auto kBest = "best.safetensors";

constexpr auto kPosition = "position";
constexpr auto kChecksum = "checksum";
constexpr auto kDataChecksum = "content_hash";  // in every file of ours: formats/safetensors.h

std::string text_of(const Position& position) {
  // As JSON a double comes back bit for bit.
  return nlohmann::json{{"epoch", position.epoch},
                        {"step", position.step},
                        {"loss_sum", position.loss_sum},
                        {"correct", position.correct},
                        {"seconds", position.seconds}}
      .dump();
}

Position position_from(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {json.at("epoch"), json.at("step"), json.at("loss_sum"), json.at("correct"),
          json.at("seconds")};
}

// Of what the data's own checksum does not cover.
std::string checksum_of(const std::string& position, const formats::NamedArrays& header) {
  std::ostringstream text;
  text << position;
  for (const auto& [name, array] : header.arrays)
    text << '\n'
         << name << ' ' << networks::scalar_type_of(array.dtype) << ' '
         << formats::shape_text(array.shape);
  return content_hash(text.str());
}

void write(const fs::path& path, const Checkpoint& checkpoint) {
  const auto position = text_of(checkpoint.position);
  networks::TensorFile file{checkpoint.tensors, {{kPosition, position}}};
  file.metadata[kChecksum] = checksum_of(position, networks::header_of(file));
  networks::save_tensors(path, file);
}

Position position_in(const formats::NamedArrays& header, const fs::path& path) {
  const auto stated = [&](const char* key) {
    const auto found = header.metadata.find(key);
    return found == header.metadata.end() ? "" : found->second;
  };
  const auto position = stated(kPosition);
  ensure(!stated(kDataChecksum).empty() && stated(kChecksum) == checksum_of(position, header),
         "{}: contents do not match their checksum; the file is damaged", path.string());
  return position_from(position);
}

Checkpoint read(const fs::path& path) {
  auto file = networks::load_tensors(path);
  const auto position = position_in(networks::header_of(file), path);
  return {position, std::move(file.tensors)};
}

// What reading it would tell, without its tensors.
Position verify(const fs::path& path) {
  return position_in(formats::parse_safetensors(map_file(path)), path);
}

Position glance_at(const fs::path& path) {
  return position_in(formats::parse_safetensors_header(map_file(path)), path);
}

std::vector<fs::path> newest_first(const runs::RunFolder& run) {
  std::vector<fs::path> paths;
  for (const char* name : {kNext, kLast, kPrevious}) {
    if (const auto path = run.checkpoints() / name; fs::exists(path)) paths.push_back(path);
  }
  return paths;
}

void put_in_place(const fs::path& folder) {
  if (fs::exists(folder / kLast)) fs::rename(folder / kLast, folder / kPrevious);
  fs::rename(folder / kNext, folder / kLast);
}

}  // namespace

void save_checkpoint(const runs::RunFolder& run, const Checkpoint& checkpoint) {
  const auto folder = run.checkpoints();
  make_writable_folder(folder);
  write(folder / kNext, checkpoint);
  put_in_place(folder);
}

void settle_checkpoints(const runs::RunFolder& run) {
  if (!fs::exists(run.checkpoints() / kNext)) return;
  try {
    verify(run.checkpoints() / kNext);
  } catch (const Error&) {
    return;  // newest_checkpoint names it, and the next one is written over it
  }
  put_in_place(run.checkpoints());
}

void save_best(const runs::RunFolder& run, const Checkpoint& checkpoint) {
  make_writable_folder(run.checkpoints());
  write(run.checkpoints() / kBest, checkpoint);
}

std::optional<Checkpoint> newest_checkpoint(const runs::RunFolder& run) {
  std::vector<std::string> damaged;
  for (const auto& path : newest_first(run)) {
    try {
      auto found = read(path);
      for (const auto& one : damaged) say(fmt::format("partwise: {}; going on without it", one));
      return found;
    } catch (const Error& error) {
      damaged.emplace_back(error.what());
    }
  }
  if (damaged.empty()) return std::nullopt;
  throw Error(fmt::format("{}; no checkpoint of this run can be read: remove {} to start over",
                          damaged.front(), run.checkpoints().string()));
}

std::optional<Position> newest_position(const runs::RunFolder& run, bool verified) {
  for (const auto& path : newest_first(run)) {
    try {
      return verified ? verify(path) : glance_at(path);
    } catch (const Error&) {  // whoever loads it will be told
    }
  }
  return std::nullopt;
}

std::optional<Position> position_of(const runs::RunFolder& run, const std::string& which) {
  if (which != "best") return newest_position(run);
  try {
    return glance_at(run.checkpoints() / kBest);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void name_lost_epochs(const runs::RunFolder& run) {
  const auto position = newest_position(run);
  if (!position) return;
  const auto rows = run.log();
  const auto there = std::count_if(rows.begin(), rows.end(), [&](const auto& row) {
    return runs::scalar_at(row, "epoch") <= static_cast<double>(position->epoch);
  });
  if (there >= position->epoch) return;
  say(
      fmt::format("note: {}: {} rows of the {} epochs behind its checkpoint; the others are lost, "
                  "and nothing is shown of them",
                  (run.path() / "log.jsonl").string(), there, position->epoch));
}

Checkpoint load_checkpoint(const runs::RunFolder& run, const std::string& which) {
  static const std::vector<std::string> kNames{"last", "best"};
  index_of_name("checkpoint", which, kNames);
  if (which == "best") {
    const auto path = run.checkpoints() / kBest;
    ensure(fs::exists(path), "{}: has no best checkpoint; train it with validation_images",
           run.path().string());
    return read(path);
  }
  const auto paths = newest_first(run);
  ensure(!paths.empty(), "{}: has no checkpoint; train it first", run.path().string());
  try {
    return read(paths.front());
  } catch (const Error& error) {
    // The one before it is of another epoch than the one asked for.
    throw Error(fmt::format("{}; partwise train {} {} --resume makes it again from the one before",
                            error.what(), run.manifest().value("data", "DATA"),
                            run.path().string()));
  }
}

}  // namespace partwise::models
