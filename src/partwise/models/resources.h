#pragma once

#include "partwise/datasets/crop_cache.h"
#include "partwise/tensors/ranks.h"

#include <string>

namespace partwise::models {

// Where the work is done; the outcome depends on these only by rounding.
struct Resources {
  std::string device = "cpu";
  int threads = 0;
  datasets::CropCache cache = {};  // where decoded crops are kept between runs
  tensors::Ranks ranks = {};       // each takes its share of every batch; only the leader writes
};

}  // namespace partwise::models
