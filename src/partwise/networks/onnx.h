#pragma once

#include "partwise/networks/network.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

namespace partwise::networks {

// Protocol Buffers, and so ONNX in one file, end here.
constexpr std::size_t kOnnxLimit = (std::size_t{1} << 31U) - 1;

// What Network::evaluate does, as one ONNX file (docs/export.md), in inference form: statistics
// frozen, no dropout.
//   images         in   float [N, 3, side, side], normalised; N is free
//   logits         out  float [N, outputs]
//   <tap>.maps     out  float [N, filter, n, n]: after ReLU, before the mask
//   <tap>.peaks    out  int64 [N, filter, 2]: row and column, in .maps, of each map's part location
//                  by the layer's own rule; where the layer has no mask, of its strongest cell
//   <tap>.masked   out  float: what its mask let through, where it has one
// `metadata` goes into the file together with what the network knows of itself: net, input_side and
// layers, a JSON list of the taps with their grid in input pixels and their filters' categories.
// Written atomically; an Error names a file that would exceed `limit` bytes.
void write_onnx(const std::filesystem::path& path,
                const Network& network,
                const std::map<std::string, std::string>& metadata,
                std::size_t limit = kOnnxLimit);

}  // namespace partwise::networks
