#pragma once

#include "partwise/base/options.h"

#include <functional>
#include <memory>
#include <string>

namespace partwise::tensors {

enum class Replay { on, off };

// What a training step asks of a GPU, recorded once and from then on launched as one piece: the
// processor then starts one graph, not hundreds of kernels. Elsewhere, and with Replay::off, every
// step is run. A recording that no step has asked for lately is dropped: some keys are of one epoch
// only.
class StepGraph {
 public:
  explicit StepGraph(Replay replay);
  ~StepGraph();
  StepGraph(StepGraph&&) noexcept;
  StepGraph& operator=(StepGraph&&) noexcept;

  // Runs `step`, or replays what it did. Steps of one key ask the same of the same memory: all that
  // changes between them lies in tensors that stay where they are. Random numbers follow the
  // generator's seed as they do without a recording. Returns whether it was a replay.
  // A step that cannot be recorded, since it waits for the GPU, is an Error.
  //   may_record: whether this step, run as it is, would be the same as later ones
  bool run(const std::string& key, bool may_record, const std::function<void()>& step);

 private:
  struct Recordings;
  std::unique_ptr<Recordings> recordings_;
};

}  // namespace partwise::tensors

template <>
inline constexpr auto partwise::kWords<partwise::tensors::Replay> = partwise::words("on", "off");
