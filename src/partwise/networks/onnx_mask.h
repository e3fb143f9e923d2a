#pragma once

#include "partwise/interpretable.h"
#include "partwise/networks/onnx_graph.h"

#include <string>

namespace partwise::networks {

// parts/mask.h in ONNX's operators. Values are passed by name; `name` is what new ones start with.

// The part location of every map, as cell index i * n + j: [N, filter, 1] int64.
//   maps [N, filter, n, n]
std::string onnx_peak_cells(OnnxGraph& graph,
                            const std::string& name,
                            const std::string& maps,
                            int64_t side,
                            parts::Peak peak);

// The same cells as row and column: the value `output`, [N, filter, 2] int64.
void onnx_peaks(OnnxGraph& graph,
                const std::string& output,
                const std::string& cells,
                int64_t side);

// x max(U_mu-hat, 0) = x max(1 - beta |[i,j] - mu-hat| / n, 0) as the value `output`. The distances
// of all pairs of cells are one table; beta may differ from filter to filter at no cost.
void onnx_masked(OnnxGraph& graph,
                 const std::string& output,
                 const std::string& maps,
                 const std::string& cells,
                 int64_t side,
                 const InterpretableImpl& layer);

}  // namespace partwise::networks
