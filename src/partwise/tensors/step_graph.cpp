#include "partwise/tensors/step_graph.h"

#include "partwise/base/error.h"
#include "partwise/tensors/recently_used.h"
#include "partwise/tensors/torch.h"

#include <torch/version.h>

// Steps are recorded with fused updates alone, which older ones do not have (fused_updates.h).
#if defined(PARTWISE_CUDA) && \
    (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4))
#define PARTWISE_RECORDS
#endif

#if defined(PARTWISE_RECORDS)
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace partwise::tensors {

#if defined(PARTWISE_RECORDS)

namespace {

// So often a step runs as it is first: libraries choose their algorithms and take their memory.
constexpr int kRunsBefore = 2;

// Two sizes of batches: twice what one epoch asks for.
constexpr std::size_t kKeysKept = 4;

}  // namespace

struct StepGraph::Recordings {
  using Pool = decltype(at::cuda::graph_pool_handle());

  struct Recording {
    Recording() = default;
    Recording(Recording&&) = default;
    Recording& operator=(Recording&&) = default;
    ~Recording() {
      if (graph) static_cast<void>(cudaDeviceSynchronize());  // its last replay may be under way
    }

    int runs = 0;
    std::shared_ptr<const Pool> pool;
    std::unique_ptr<at::cuda::CUDAGraph> graph;
  };

  // The step is not run by this.
  void record(Recording& recording, const std::function<void()>& step) {
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    recording.pool = pool.lock();
    if (!recording.pool)
      pool = recording.pool = std::make_shared<const Pool>(at::cuda::graph_pool_handle());
    const auto stream = c10::cuda::getStreamFromPool();
    c10::cuda::device_synchronize();
    try {
      const c10::cuda::CUDAStreamGuard guard(stream);
      graph->capture_begin(*recording.pool, cudaStreamCaptureModeThreadLocal);
      try {
        step();
      } catch (...) {
        graph->capture_end();
        throw;
      }
      graph->capture_end();
    } catch (const c10::Error& error) {
      // LibTorch's generator still counts for the recording: nothing can go on from here.
      throw Error(
          fmt::format("a training step could not be recorded for the GPU ({}); use --replay off",
                      error.what_without_backtrace()));
    }
    recording.graph = std::move(graph);
  }

  // The recordings' memory. LibTorch gives it up with the last of them and takes none under its
  // name again.
  std::weak_ptr<const Pool> pool;
  RecentlyUsed<Recording> by_key{kKeysKept};
};

StepGraph::StepGraph(Replay replay)
    : recordings_(replay == Replay::on ? std::make_unique<Recordings>() : nullptr) {}

bool StepGraph::run(const std::string& key, bool may_record, const std::function<void()>& step) {
  if (!recordings_) {
    step();
    return false;
  }
  auto& recording = recordings_->by_key.of(key);
  if (recording.graph) {
    recording.graph->replay();
    return true;
  }
  if (may_record && recording.runs >= kRunsBefore) {
    recordings_->record(recording, step);
    recording.graph->replay();
    return false;  // the step's own bookkeeping was done while it was recorded
  }
  if (may_record) ++recording.runs;
  step();
  return false;
}

#else

struct StepGraph::Recordings {};

StepGraph::StepGraph(Replay /*replay*/) {}

bool StepGraph::run(const std::string& /*key*/,
                    bool /*may_record*/,
                    const std::function<void()>& step) {
  step();
  return false;
}

#endif

StepGraph::~StepGraph() = default;
StepGraph::StepGraph(StepGraph&&) noexcept = default;
StepGraph& StepGraph::operator=(StepGraph&&) noexcept = default;

}  // namespace partwise::tensors
