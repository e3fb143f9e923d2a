#pragma once

#include "partwise/atlas/filter_names.h"
#include "partwise/atlas/run_atlas.h"
#include "partwise/metrics/bootstrap.h"

#include <string>
#include <vector>

namespace partwise::atlas {

// One number of one filter, with what it must be held against.
struct OwnFinding {
  std::string key;  // the catalogue's, or one of kOwnNumbers
  metrics::Finding finding;
  int64_t n = 0;  // images it comes from
};

// The layer's metrics on a layer of this filter alone: the same functions, intervals and controls;
// beside them how often its evidence lies on the part it is named after, how loud it is on its own
// category, and what decisions lose without it. A second or so.
std::vector<OwnFinding> filter_evidence(const RunAtlas& atlas,
                                        std::size_t tap,
                                        int64_t filter,
                                        const FilterWords& words,
                                        const AtlasRequest& request,
                                        const metrics::BootstrapOptions& bootstrap);

// What numbers of single filters mean that no catalogue of layers has.
struct OwnWords {
  const char* key;
  const char* name;
  const char* better;  // "higher", "lower" or ""
  bool is_share;       // shown in percent
  const char* meaning;
};
std::span<const OwnWords> own_numbers();

}  // namespace partwise::atlas
