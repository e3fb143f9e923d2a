#pragma once

#include "partwise/base/geometry.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/truth.h"
#include "partwise/models/examples.h"
#include "partwise/networks/network.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::evidence {

// How far a small square that covers part of the image disturbs a filter's peak, by where the
// square lies relative to the unit's centre: the mean over several images (Zhou et al. 2015,
// "Object detectors emerge in deep scene CNNs"). Unlike the theoretical field it shows what the
// filter really uses.
struct ReceptiveField {
  double spacing = 0.0;         // pixels between nodes
  int64_t reach = 0;            // nodes to each side of the centre
  int64_t images = 0;           // it is the mean of; 0: the filter never fired
  std::vector<float> strength;  // [2 reach + 1, 2 reach + 1]: share of the peak that is lost or
                                // gained; row by row, the middle is the unit's centre

  // At an offset from the unit's centre in pixels, bilinear; 0 outside.
  double at(Point offset) const;
};

struct FieldOptions {
  double patch = 0.1;  // side of the covered square / side of the input (paper of Zhou: 11 of 227)
  double step = 1.0 / 28.0;
  int64_t images = 8;  // per filter: those it fires on most
};

// One field per filter of a tapped layer, from the rows given for it (its strongest first; the
// first options.images count). Every row is covered patch by patch once, for all filters that want
// it.
std::vector<ReceptiveField> receptive_fields(const networks::Network& network,
                                             std::size_t tap,
                                             const models::Examples& examples,
                                             std::span<const std::vector<int64_t>> rows_of_filter,
                                             const FieldOptions& options,
                                             const std::string& device);

// The field laid over the image with the unit's centre at `centre`: [side * side], row by row.
std::vector<float> field_on_image(const ReceptiveField& field, Point centre, int64_t side);

// The pixels that hold this share of all the strength, strongest first: what is outlined.
metrics::PixelSet strongest_pixels(std::span<const float> strength, int64_t side, double share);
// The least strength among them.
float level_holding(std::span<const float> strength, double share);

// A field made smooth by a Gaussian of this spread in pixels; its sum stays but for the border.
std::vector<float> smoothed(std::span<const float> strength, int64_t side, double spread);

}  // namespace partwise::evidence
