#pragma once

#include "partwise/runs/run_folder.h"
#include "partwise/tensors/tensor.h"

#include <map>
#include <optional>
#include <string>

namespace partwise::models {

// How far a training has come: whole epochs, steps of the running one, and the sums that one's row
// of the log will be made of.
struct Position {
  int64_t epoch = 0;
  int64_t step = 0;
  double loss_sum = 0.0;  // over the images of those steps
  int64_t correct = 0;    // images
  double seconds = 0.0;

  bool operator==(const Position&) const = default;
};

// Everything the steps to come depend on.
struct Checkpoint {
  Position position;
  std::map<std::string, Tensor> tensors;
};

// The checkpoints of a run, in checkpoints/:
//   last.safetensors      the newest
//   previous.safetensors  the one before it
//   best.safetensors      the network, without the optimizer, as it was after its best epoch
//   next.safetensors      newer than last, while it is being put in its place
// A file carries a checksum of its data and one of everything else. It is written whole before
// another is touched, so that a full disk or a killed process leaves at least as many good ones as
// there were.
void save_checkpoint(const runs::RunFolder& run, const Checkpoint& checkpoint);
void save_best(const runs::RunFolder& run, const Checkpoint& checkpoint);

// Puts a `next` in its place that a killed process left.
void settle_checkpoints(const runs::RunFolder& run);

// The newest readable one; a damaged one is named and the one before it used. Where all are
// damaged, an Error: starting over unasked would write over them.
std::optional<Checkpoint> newest_checkpoint(const runs::RunFolder& run);

// Where the newest one stands, from headers alone: a moment, whatever the size. Damaged tensors are
// noticed only where it is `verified`: then the files are read through, though nothing is kept.
std::optional<Position> newest_position(const runs::RunFolder& run, bool verified = false);

// That of the newest ("last") or of the best one ("best"), from its header too; nothing where there
// is none or it is damaged.
std::optional<Position> position_of(const runs::RunFolder& run, const std::string& which);

// A line where log.jsonl has fewer rows than the newest checkpoint has epochs behind it: rows come
// before checkpoints, so that no killed training leaves that.
void name_lost_epochs(const runs::RunFolder& run);

// "last": the newest; "best". An Error where there is none, or where it is damaged.
Checkpoint load_checkpoint(const runs::RunFolder& run, const std::string& which);

}  // namespace partwise::models
