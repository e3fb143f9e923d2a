#include "partwise/models/checkpoint.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/names.h"
#include "partwise/base/progress.h"
#include "partwise/tensors/safetensors.h"
#include "partwise/tensors/torch.h"

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
constexpr auto kDataChecksum = "content_hash";  // save_tensors adds it, load_tensors holds it

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
std::string checksum_of(const std::string& position, const std::map<std::string, Tensor>& tensors) {
  std::ostringstream text;
  text << position;
  for (const auto& [name, tensor] : tensors)
    text << '\n' << name << ' ' << tensor.scalar_type() << ' ' << tensor.sizes();
  return content_hash(text.str());
}

void write(const fs::path& path, const Checkpoint& checkpoint) {
  const auto position = text_of(checkpoint.position);
  tensors::save_tensors(
      path, {checkpoint.tensors,
             {{kPosition, position}, {kChecksum, checksum_of(position, checkpoint.tensors)}}});
}

Checkpoint read(const fs::path& path) {
  auto file = tensors::load_tensors(path);
  const auto& position = file.metadata[kPosition];
  ensure(file.metadata.contains(kDataChecksum) &&
             file.metadata[kChecksum] == checksum_of(position, file.tensors),
         "{}: contents do not match their checksum; the file is damaged", path.string());
  return {position_from(position), std::move(file.tensors)};
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
    read(run.checkpoints() / kNext);
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
  for (const char* name : {kNext, kLast, kPrevious}) {
    const auto path = run.checkpoints() / name;
    if (!fs::exists(path)) continue;
    try {
      return read(path);
    } catch (const Error& error) {
      say(fmt::format("partwise: {}; going on without it", error.what()));
    }
  }
  return std::nullopt;
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
  auto newest = newest_checkpoint(run);
  ensure(newest.has_value(), "{}: has no checkpoint; train it first", run.path().string());
  return *std::move(newest);
}

}  // namespace partwise::models
