#pragma once

#include "partwise/base/geometry.h"
#include "partwise/base/names.h"
#include "partwise/base/options.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace partwise::explaining {

// Where a filter's evidence lies on one row.
struct Sighting {
  int64_t row = 0;
  Point place;  // pixels of the network's input
};

// How a filter came to its name.
enum class NameSource {
  nobody,     // its evidence keeps to no part
  regions,    // part masks or boxes of the data
  landmarks,  // points of the data
  place,      // filters of one place in the object, where the data knows no parts: "part A"
};

struct FilterName {
  int64_t category = -1;  // index into the task's categories
  std::string name;       // "" with NameSource::nobody
  NameSource source = NameSource::nobody;
  double rate = 0.0;     // share of the sightings that lie on the part
  double control = 0.0;  // the same places over other images of the category
  int64_t sightings = 0;
};

struct NamingOptions {
  double reach = 0.05;       // a sighting is a disc of this radius / input side
  double least_share = 0.2;  // of the disc that a part must fill to be the one it lies on
  double nearest = 0.12;     // a landmark farther away / input side is none
  double least_rate = 1.0 / 3.0;
  int64_t others = 16;  // images whose parts the control looks at, per sighting
  uint64_t seed = 1;
};

// Names filters after the part of their category that their evidence lies on more often than the
// same places would on other images: the part with the largest rate minus control, where the rate
// is at least least_rate and exceeds the control by two of its standard errors. Regions where the
// category has any in these rows, else landmarks.
//   sightings [filter]; filter_category [filter]
std::vector<FilterName> name_by_truth(std::span<const std::vector<Sighting>> sightings,
                                      std::span<const int64_t> filter_category,
                                      const metrics::Truth& truth,
                                      const NamingOptions& options = {});

// Names for filters of data that knows no parts: within each category, filters whose evidence lies
// together on the images both fire on (average linkage, closer than `nearest` of the input side)
// share a name: "part A" for the largest group. A filter with fewer than three sightings gets none.
std::vector<FilterName> name_by_place(std::span<const std::vector<Sighting>> sightings,
                                      std::span<const int64_t> filter_category,
                                      int64_t input_side,
                                      const NamingOptions& options = {});

}  // namespace partwise::explaining

template <>
inline constexpr auto partwise::kWords<partwise::explaining::NameSource> =
    partwise::words("nobody", "regions", "landmarks", "place");
