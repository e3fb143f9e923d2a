#pragma once

#include "partwise/report/glossary.h"
#include "partwise/report/loaded_run.h"

#include <span>
#include <string>

namespace partwise::report {

// One number of all networks with intervals and controls, and once more without the controls:
// beside chance, differences between good networks are too small to see.
std::string network_charts(std::span<const LoadedRun> runs, const NumberWords& metric);

// One number of all layers with intervals and controls, layers with the same role together.
std::string layer_chart(std::span<const LoadedRun> runs, const NumberWords& metric);

// What a number means, what it is held against and what it cannot show, beside its chart.
std::string metric_block(std::span<const LoadedRun> runs,
                         const NumberWords& metric,
                         bool of_layers);

// What the logs tell about training, one chart a quantity; "" without logs.
std::string training_charts(std::span<const LoadedRun> runs);

}  // namespace partwise::report
