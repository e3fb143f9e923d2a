#pragma once

#include "partwise/networks/head.h"
#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <optional>
#include <string>

namespace partwise::explaining {

struct AdditiveOptions {
  int64_t steps = 400;
  int64_t rows = 512;  // training images it is fitted to, evenly spread
  double rate = 0.01;
  double prior = 0.1;   // weight of keeping to the mean coefficients
  int64_t hidden = 16;  // how freely coefficients may follow the image
  uint64_t seed = 1;
};

// A network's answer written as a sum over its filters (the paper's way of quantifying parts; Chen
// et al. 2019, "Explaining neural networks semantically and quantitatively"):
//   y_c  ~  b_c + sum_f alpha_cf(a) a_f,   alpha_cf(a) = A_cf + U_cf . tanh(V a / s)
// a_f is the sum of the filter's features, s its scale on training images. It is distilled: fitted
// to the network's own answers, with a prior that keeps the coefficients near A, which starts from
// what silencing each filter costs per unit of a_f. What the sum misses of an answer is its
// completeness error; unlike Shapley values it has one.
class AdditiveExplainer {
 public:
  // activity [rows, filters], answers [rows, outputs]: of training images; costs [filters,
  // outputs]: the mean loss of the answers when a filter alone is silenced
  static AdditiveExplainer distil(const Tensor& activity,
                                  const Tensor& answers,
                                  const Tensor& costs,
                                  const AdditiveOptions& options = {});

  // [rows, filters, outputs]: alpha_cf a_f; without b.
  Tensor contributions(const Tensor& activity) const;
  // [rows, outputs]: b + their sum.
  Tensor answers(const Tensor& activity) const;

  void save(const runs::RunFolder& run) const;
  // Of its numbers: whatever belongs to this one can name it.
  std::string hash() const;
  // Nothing where there is none; an Error where the file is damaged or of another network.
  static std::optional<AdditiveExplainer> load(const runs::RunFolder& run,
                                               int64_t filters,
                                               int64_t outputs);

 private:
  Tensor coefficients(const Tensor& activity) const;

  Tensor scale_;  // [filters]
  Tensor mean_;   // A [filters, outputs]
  Tensor free_;   // U [filters * outputs, hidden]
  Tensor look_;   // V [hidden, filters]
  Tensor bias_;   // [outputs]
};

// The activity an AdditiveExplainer is told of: features [rows, filter, k, k] summed over cells.
Tensor activity_of(const Tensor& features);

}  // namespace partwise::explaining
