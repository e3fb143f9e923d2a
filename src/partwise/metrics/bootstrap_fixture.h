#pragma once

#include "partwise/metrics/bootstrap.h"

namespace partwise::metrics {

inline Interval centred_bootstrap_interval(
    double value,
    int64_t rows,
    int64_t filters,
    const BootstrapOptions& options,
    const std::function<double(const Resample&)>& statistic) {
  return centred_interval(value, bootstrap_interval(rows, filters, options, statistic).draws);
}

}  // namespace partwise::metrics
