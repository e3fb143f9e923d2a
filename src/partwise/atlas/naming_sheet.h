#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/runs/run_folder.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace partwise::atlas {

struct FilterPlace {
  std::string layer;
  int64_t filter = 0;

  auto operator<=>(const FilterPlace&) const = default;
};

// What one person calls filters he sees without their names and numbers: naming-RATER.json in the
// run's folder. names.json knows nothing of it.
using Sheet = std::map<FilterPlace, std::string>;

// Letters, digits, - and _, 40 at the most: it becomes part of a file's name. Else an Error.
void check_rater(const std::string& rater);

// Empty where there is none; an Error where it is damaged.
Sheet read_sheet(const runs::RunFolder& run, const std::string& rater);
// Under a lock, so that two windows of one person lose nothing; an empty name takes one back.
Sheet name_on_sheet(const runs::RunFolder& run,
                    const std::string& rater,
                    const FilterPlace& place,
                    const std::string& name);
// Who has one, in the order of their names.
std::vector<std::string> raters_of(const runs::RunFolder& run);

// All filters in an order drawn for this person: the same whenever he comes back.
std::vector<FilterPlace> sheet_order(std::vector<FilterPlace> filters, const std::string& rater);

// How far two people call the same filters the same (letters' case and spaces around left aside).
struct Agreement {
  int64_t n = 0;           // filters both named
  double same = 0.0;       // share of them with one name
  double by_chance = 0.0;  // were each one's names dealt out at random
  metrics::Finding kappa;  // Cohen's: (same - by_chance) / (1 - by_chance); drawn over the filters
};
// Nothing where they named no filter in common.
std::optional<Agreement> agreement_of(const Sheet& first,
                                      const Sheet& second,
                                      const metrics::BootstrapOptions& bootstrap);

}  // namespace partwise::atlas
