#pragma once

#include "partwise/interpretable.h"
#include "partwise/parts/memory.h"

namespace partwise::parts {

// How a GPU counts by itself which batches are asked for the filter loss.
struct GpuWatching {
  Tensor sums;   // the filter loss and its three terms, float64
  Tensor since;  // [1] float32: batches since the last that was asked; 0: this one is
  int64_t every = 1;
};

// Counts what happens in an interpretable layer between two looks.
class Diagnostics {
 public:
  Diagnostics();

  // One batch, [batch, filter, n*n], as many as this rank has; every 16th is asked for the filter
  // loss itself. Only of those must the maps be given.
  bool watches_next() const;
  void see(const Tensor& maps,
           const Memory& memory,
           const PartOptions& options,
           const tensors::Ranks& ranks);
  // The same where kernels have computed the loss: its means and those of its terms, [4] float64;
  // undefined where the batch is not asked.
  void see_means(const Tensor& means, const Memory& memory);
  // The same where they add it to the sums themselves.
  GpuWatching watch_on_gpu(const Memory& memory);
  // One push. The backward pass adds its gradient ratio to the result, [].
  Tensor see_push(const Tensor& effective_samples, const Tensor& softening);

  // The same where kernels do all of the counting: the four sums they add to, float32.
  Tensor count_push();

  void repeat();  // the last batch's counting, for one like it that was replayed on the GPU

  void see_vote(const Tensor& loss);  // of the same batch, []

  LayerDiagnostics take(const Memory& memory);  // and start counting anew
  // What take will be made of, so far, as one list of float64.
  Tensor sums() const;
  void load(const Tensor& sums);

 private:
  void begin_batch(const Memory& memory);
  void set_since();

  Tensor push_sums_;  // ratio, effective samples, softening, vote
  Tensor loss_sums_;  // the filter loss and its three terms, float64
  Tensor since_;      // GpuWatching's, which stays where it is; undefined before it is asked for
  int64_t steps_ = 0;
  int64_t pushes_ = 0;
  int64_t watched_ = 0;
  bool pushed_ = false;  // by the last batch
};

}  // namespace partwise::parts
