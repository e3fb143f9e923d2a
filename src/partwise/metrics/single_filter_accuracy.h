#pragma once

#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/map_summaries.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

struct SingleFilterAccuracy {
  FilterMean fitted;    // controls: majority_class, shuffled_labels (fitted to permuted labels);
                        // fact: best_filter, the highest: chosen on the evaluated rows
  FilterMean accuracy;  // control: majority_class
  FilterMean balanced;  // control: chance; fact: best_filter, the one with the highest balanced
                        // accuracy on the training rows: chosen honestly
  FilterMean auc;       // control: chance
  std::vector<double> thresholds;  // [filters]: of the highest balanced accuracy on training rows
};

// Classification by one filter (paper, Section "Experimental results and analysis", Table "single
// filter"): a row is called an instance of the filter's category if max_ij x > T; means over
// filters. `fitted` is the paper's number, T being the best on the rows that are judged; it can
// never fall below the majority's share. The others are honest: T comes from `training`, by
// balanced accuracy, and AUC needs none. Ties count half in the AUC. `filter_category` [filters],
// -1: the filter is left out. Numbers that need both classes are NaN where one is missing.
// Intervals are centred bootstrap intervals; `fitted` is fitted anew in every resample, the
// training threshold stays: an interval for this trained threshold, not for another training set.
SingleFilterAccuracy single_filter_accuracy(const LabelledRows& evaluated,
                                            const LabelledRows& training,
                                            std::span<const int64_t> filter_category,
                                            const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
