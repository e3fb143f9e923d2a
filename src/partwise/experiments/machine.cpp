#include "partwise/experiments/machine.h"

#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/models/examples.h"
#include "partwise/models/run_data.h"
#include "partwise/tensors/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <new>

#ifndef PARTWISE_COMMIT
#define PARTWISE_COMMIT "unknown"
#endif

namespace partwise::experiments {
namespace {

// OpenBLAS takes a buffer of 128 MB at its first product; refused, it asks again for ever.
constexpr std::size_t kFirstProduct = std::size_t{256} << 20U;

void require_memory() {
  void* probe = std::malloc(kFirstProduct);  // reserved, not touched
  const bool enough = probe != nullptr;
  std::free(probe);
  if (!enough) throw std::bad_alloc();
}

}  // namespace

models::Resources start_session(const Machine& machine) {
  require_memory();
  const auto device = tensors::choose_device(machine.device);
  if (machine.device == "auto" && device != "cpu")
    say(fmt::format("working on {} (--device cpu for the processor)", device));
  const int threads = usable_threads(machine.threads);
  tensors::start_session(threads);
  return {device, threads, {machine.cache, machine.cache_limit}};
}

std::string version_text() {
  return fmt::format("partwise {} (commit {}, LibTorch {})", PARTWISE_VERSION, PARTWISE_COMMIT,
                     tensors::libtorch_version());
}

nlohmann::json make_manifest(const datasets::PartDataset& dataset) {
  const auto now = fmt::gmtime(std::time(nullptr));
  auto manifest = models::data_record(dataset);
  manifest.update({{"version", PARTWISE_VERSION},
                   {"commit", PARTWISE_COMMIT},
                   {"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", now)},
                   {"libtorch", tensors::libtorch_version()}});
  return manifest;
}

}  // namespace partwise::experiments
