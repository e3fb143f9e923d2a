#pragma once

#include "partwise/kernels/gpu_kernels.h"
#include "partwise/kernels/layer_kernels.h"
#include "partwise/kernels/method_constants.h"
#include "partwise/parts/fused_fits.h"
#include "partwise/parts/fused_maps.h"
#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace partwise::parts {

using kernels::kCalm;
using kernels::kRunaway;
using kernels::kSick;
using kernels::kSound;
using kernels::kTiny;

// What an interpretable layer remembers, of training batches only: per filter the running E[max x]
// and spread on its category and E[max x] on all images, per category and filter the running mean
// of sum_ij x_ij (assignment peak: of max_ij x_ij), and thereby the category each filter stands
// for; for the paper's rules also the running Z.
class Memory {
 public:
  Memory(int64_t filters, int64_t side, int64_t categories, const PartOptions& options);

  // One batch. maps [batch, filter, n, n] and their looks are this rank's, category [batch] is of
  // all ranks.
  void see(const Tensor& maps,
           const Looks& looks,
           const Tensor& category,
           const tensors::Ranks& ranks);
  void see_fits(const Tensor& log_mean);  // of the same batch: log_mean_fits, the paper's rules
  RunningFits about_to_see_fits();        // the same for kernels, which are to add the batch

  Tensor mean_peak() const;  // E[max x] on the filter's category, [filter]; 0 before any was seen
  Tensor mean_peak_all() const;  // E[max x] on all images, [filter]
  // The unit a filter's activations are measured in, [filter]: the larger of the two, > 0. A filter
  // that is silent on its category and loud elsewhere has one, too.
  Tensor scale() const;
  Tensor loudness() const;  // []: median over the filters of mean_peak, > 0
  Tensor softening()
      const;  // [] in [0, 1]: what the guard leaves of the strength; kernels/method_constants.h
  Tensor mean_response() const;  // [filter]: mean over the categories of E sum x (peak: of E max x)
  Tensor log_mean_fits() const;  // the running log E_x exp(tr x T_mu), [filter, n*n + 1]
  Tensor filter_category() const;  // see Interpretable
  Tensor filter_beta() const;      // see Interpretable
  Tensor templates() const;        // as unit_templates gives them, of the memory's type
  Cones cones() const;             // the same, not written out
  Tensor positives(const Tensor& category) const;  // [batch, filter] bool
  // All of this at once, where the kernels can: can_fuse(maps).
  struct State {
    Tensor filter_category;
    Tensor mean_peak;
    Tensor scale;
    double loudness = 0.0;
    double softening = 0.0;
  };
  State state() const;

  // For kernels/gpu_kernels.h, where the memory lies on a GPU in float32.
  kernels::GpuMemory on_gpu();
  Tensor slopes() const;          // [filter]: beta / n
  Tensor arrived_on_gpu() const;  // two counters, 0 between launches
  void assign_if_due();           // a batch's category means have been added
  bool is_assigned() const;       // whether that will never be due again

  int64_t categories() const { return category_mean_.size(0); }
  at::TensorOptions type() const { return peak_scale_.options(); }

  // Everything a checkpoint must keep, by its name there. Whoever moves these moves the memory.
  std::vector<std::pair<std::string, Tensor>> tensors() const;
  // Adds to `state`, under `prefix`, what an older program's statistics lack.
  static void complete(std::map<std::string, Tensor>& state, const std::string& prefix);

 private:
  struct AroundPeaks {
    Tensor squares;  // [batch, filter]: sum x |cell - mu|^2
    Tensor fits;     // [batch, filter]: sum x U_mu
  };
  AroundPeaks around_peaks(const Tensor& maps, const Tensor& peaks) const;
  Tensor beside(Tensor& table) const;  // the table where the memory lies, in its type
  Tensor category_fitness() const;     // [category, filter]: share of the layer's activation
  template <class T>
  kernels::LayerMemory<T> view() const;
  void see_by_kernels(const Tensor& maps,
                      const Looks& looks,
                      const Tensor& category,
                      const tensors::Ranks& ranks);

  PartOptions options_;
  mutable Tensor distances_;          // [n*n, n*n], of the template's shape
  mutable Tensor squared_distances_;  // [n*n, n*n], L2
  mutable Tensor fixed_templates_;    // [n*n, n*n]
  mutable Tensor fixed_slopes_;       // [filter]
  mutable Tensor arrived_;            // int32
  Tensor peak_scale_;                 // [filter]
  Tensor scale_seen_;                 // [filter]: weight of the memory so far, to correct its start
  Tensor peak_best_;                  // [filter]: the highest mean_peak so far, slowly forgotten
  Tensor calm_;                       // []: mean of mean_peak, followed slowly
  Tensor peak_all_;                   // [filter]
  Tensor all_seen_;                   // []
  Tensor fit_spread_;                 // [filter]: E[s sigma] on positives, s the fit to U_mu-hat
  Tensor fit_sum_;                    // [filter]: E[s]
  Tensor category_mean_;              // [category, filter]
  Tensor category_seen_;              // [category]
  Tensor log_partition_;              // [filter, n*n + 1]: log of the weighted sum so far
  Tensor partition_seen_;             // []: its weight
  Tensor assigned_;                   // [filter]: the balanced assignment's category; -1: none yet
  Tensor batches_;                    // []: how many were seen, as far as the assignment cares
  int64_t host_batches_ = 0;          // the same, without asking the device
  int64_t batches_version_ = 0;       // of the tensor when it was last the same
};

// The rows of a whole batch that are this rank's.
Tensor own_rows(const Tensor& whole, const tensors::Ranks& ranks);

}  // namespace partwise::parts
