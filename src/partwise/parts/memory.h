#pragma once

#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

#include <string>
#include <utility>
#include <vector>

namespace partwise::parts {

constexpr double kTiny = 1e-12;  // what a divisor is at least

// What an interpretable layer remembers, of training batches only: per filter the running E[max x]
// and spread on its category, per category and filter the running mean of sum_ij x_ij, and thereby
// the category each filter stands for; for the paper's rule also the running Z.
class Memory {
 public:
  Memory(int64_t filters, int64_t side, int64_t categories, const PartOptions& options);

  // One batch. maps [batch, filter, n, n] and peaks [batch, filter] are this rank's, category
  // [batch] is of all ranks.
  void see(const Tensor& maps,
           const Tensor& peaks,
           const Tensor& category,
           const tensors::Ranks& ranks);
  void see_fits(const Tensor& log_mean);  // of the same batch: log_mean_fits, rule paper

  Tensor mean_peak() const;        // E[max x], [filter]; 0 before anything was seen
  Tensor best_peak() const;        // [filter]: its highest so far, slowly forgotten
  Tensor log_mean_fits() const;    // the running log E_x exp(tr x T_mu), [filter, n*n + 1]
  Tensor filter_category() const;  // see Interpretable
  Tensor filter_beta() const;      // see Interpretable
  Tensor templates() const;        // as unit_templates gives them, of the memory's type
  Tensor positives(const Tensor& category) const;  // [batch, filter] bool
  int64_t categories() const { return category_mean_.size(0); }
  at::TensorOptions type() const { return peak_scale_.options(); }

  // Everything a checkpoint must keep, by its name there. Whoever moves these moves the memory.
  std::vector<std::pair<std::string, Tensor>> tensors() const;

 private:
  Tensor beside(Tensor& table) const;  // the table where the memory lies, in its type

  PartOptions options_;
  mutable Tensor distances_;          // [n*n, n*n], of the template's shape
  mutable Tensor squared_distances_;  // [n*n, n*n], L2
  mutable Tensor fixed_templates_;    // [n*n, n*n]
  Tensor peak_scale_;                 // [filter]
  Tensor scale_seen_;                 // [filter]: weight of the memory so far, to correct its start
  Tensor peak_best_;                  // [filter]
  Tensor squared_spread_;             // [filter]
  Tensor category_mean_;              // [category, filter]
  Tensor category_seen_;              // [category]
  Tensor log_partition_;              // [filter, n*n + 1]: log of the weighted sum so far
  Tensor partition_seen_;             // []: its weight
};

// The rows of a whole batch that are this rank's.
Tensor own_rows(const Tensor& whole, const tensors::Ranks& ranks);

}  // namespace partwise::parts
