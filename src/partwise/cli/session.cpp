#include "partwise/cli/session.h"

#include "partwise/base/progress.h"
#include "partwise/tensors/session.h"

namespace partwise::cli {

models::Resources start_session(const Common& common) {
  const auto device = tensors::choose_device(common.device);
  if (common.device == "auto" && device != "cpu") {
    say(fmt::format("working on {} (--device cpu for the processor)", device));
  }
  tensors::start_session(common.threads);
  auto resources = common.resources();
  resources.device = device;
  return resources;
}

}  // namespace partwise::cli
