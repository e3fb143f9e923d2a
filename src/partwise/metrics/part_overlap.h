#pragma once

#include "partwise/base/options.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

struct InterpretabilityOptions {
  double quantile = 0.005;  // P(x > T_f)
  double iou = 0.2;         // a part is detected above this overlap
  double radius = 0.10;  // of the disc drawn at each unit above T_f, as a share of the input side

  static auto fields() {
    using Row = Field<InterpretabilityOptions, double>;
    return std::tuple{
        Row{"quantile", &InterpretabilityOptions::quantile, "share of units above T_f", 1e-6, 0.5},
        Row{"iou", &InterpretabilityOptions::iou, "overlap above which a part counts", 0.0, 1.0},
        Row{"radius", &InterpretabilityOptions::radius, "disc radius / input side", 1e-3, 1.0},
    };
  }
};

// The region a unit of one filter stands for, around its centre: rows of pixels [first, last],
// counted from the pixel nearest to the centre.
struct RegionShape {
  struct Span {
    int64_t y = 0;
    int64_t first = 0;
    int64_t last = 0;
  };
  std::vector<Span> spans;
};

// What is drawn for a filter in place of discs at the centres of all its units above T_f. At most
// one of them is given.
struct Regions {
  std::span<const RegionShape> shapes = {};  // [filters]: the filter's shape at those centres
  std::span<const Point> places = {};  // [filters, rows]: one disc, here, where a unit is above T_f
};

// One category: its rows, and how much of each part they show.
struct Gallery {
  std::vector<int64_t> rows;
  std::vector<std::vector<int64_t>> areas;  // [part][place in rows], pixels
  std::vector<std::vector<int64_t>> shown;  // [part]: the rows that show it
};

// How often each part of each category is shown in a draw of rows.
std::vector<std::vector<double>> draws_shown(std::span<const Gallery> galleries,
                                             std::span<const int32_t> row_counts);

// IoU of a filter's region with every part of every row of a category, [part][place in the
// category's rows]; NaN where the part is not shown, 0 where the region is empty.
using Overlaps = std::vector<std::vector<double>>;

struct FilterOverlap {
  float threshold = 0.0F;   // T_f
  int64_t silent_rows = 0;  // rows of the category without a unit above T_f
  Overlaps own;
  Overlaps shuffled;  // the same regions laid over the parts of one other row each
  Overlaps centre;    // with shapes: the filter's own at the input's centre, in every row
};

// "How does this filter overlap the parts of this category?"
struct OverlapQuestion {
  int64_t filter = 0;
  int64_t category = 0;
};

struct PartOverlaps {
  std::vector<Gallery> galleries;      // [category]
  std::vector<Overlaps> centre;        // [category]: one disc at the input's centre,
                                       // (input_side - 1) / 2, in every row
  std::vector<FilterOverlap> filters;  // [question]
};

// How the regions of filters overlap parts. T_f: over all positions of all maps of a category, the
// upper_quantile of max(x, 0), NaN taken for 0. S_f = union of discs (radius a share of the input
// side) at the centres of the units with x > T_f, or what `regions` says. Every filter's
// derangement behind `shuffled` is drawn from control_random(bootstrap, control_stream, filter).
// Holds the caller to maps, truth and questions that fit, and to valid options.
//
// The thresholds take three passes over the source, the regions one more; kept are 16 bytes
// per question, row of its category and part.
PartOverlaps part_overlaps(const MapSource& maps,
                           const UnitGrid& grid,
                           const Truth& truth,
                           std::span<const OverlapQuestion> questions,
                           const InterpretabilityOptions& options,
                           const BootstrapOptions& bootstrap,
                           uint64_t control_stream,
                           const Regions& regions = {});

}  // namespace partwise::metrics
