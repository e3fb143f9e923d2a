#pragma once

#include "partwise/base/options.h"

namespace partwise::parts {

struct PartOptions {
  double beta = 4.0;                  // paper: "beta ~= 4"
  std::string template_shape = "l1";  // the paper also allows a round template
  std::string peak = "argmax";        // paper; the authors' release uses the centroid
  double strength = 0.015;            // filter gradient / task gradient, by norm; 0: mask only
  std::string schedule = "linear";    // of the strength over epochs t = 1, 2, ...
  std::string strength_per = "filter";
  double temperature = 0.05;      // a in u = s / a
  double scale_memory = 0.9;      // of the running E[max x]
  double category_memory = 0.99;  // of the running per-category sum of x

  static auto fields() {
    using Number = Field<PartOptions, double>;
    using Word = Field<PartOptions, std::string>;
    return std::tuple{
        Number{"beta", &PartOptions::beta, "template fall-off per L1 step, times n", 1e-3, 100.0},
        Word{
            "template_shape", &PartOptions::template_shape, "distance in a template", {"l1", "l2"}},
        Word{"peak", &PartOptions::peak, "a map's part location", {"argmax", "centroid"}},
        Number{"strength", &PartOptions::strength,
               "filter gradient as a share of the task gradient (0: mask only)", 0.0, 10.0},
        Word{"schedule",
             &PartOptions::schedule,
             "strength over the epochs t: constant, 1/t (paper), or falling to 0",
             {"constant", "inverse", "linear"}},
        Word{"strength_per",
             &PartOptions::strength_per,
             "what the share is taken of",
             {"layer", "filter"}},
        Number{"temperature", &PartOptions::temperature,
               "how sharply the best-fitting images are preferred", 1e-4, 1e4},
        Number{"scale_memory", &PartOptions::scale_memory, "memory of E[max x]", 0.0, 0.9999},
        Number{"category_memory", &PartOptions::category_memory,
               "memory of the category statistics", 0.0, 0.9999},
    };
  }
};

}  // namespace partwise::parts
