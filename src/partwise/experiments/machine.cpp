#include "partwise/experiments/machine.h"

#include "partwise/base/progress.h"
#include "partwise/models/resources.h"
#include "partwise/tensors/session.h"

#include <fmt/format.h>

namespace partwise::experiments {

models::Resources start_session(const Machine& machine) {
  const auto device = tensors::choose_device(machine.device);
  if (machine.device == "auto" && device != "cpu")
    say(fmt::format("working on {} (--device cpu for the processor)", device));
  tensors::start_session(machine.threads);
  return {device, machine.threads, {machine.cache, machine.cache_limit}};
}

}  // namespace partwise::experiments
