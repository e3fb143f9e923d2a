#pragma once

#include "partwise/findings/run_findings.h"
#include "partwise/metrics/comparison.h"

#include <string>
#include <vector>

namespace partwise::findings {

// What keeps two runs from being held against each other, in words: another task, split, data,
// number of images or option of measuring; "" where nothing does. What an older file does not say
// is taken to agree.
std::string difference_between(const RunFindings& first, const RunFindings& second);

// Why draw r did not take the same images for both; "" where it did.
std::string why_not_paired(const RunFindings& first, const RunFindings& second);

// THE rule, for `partwise compare` and every verdict of the report: metrics::compare on one number
// of two comparable runs, second minus first; NaN where either lacks it. Which side's filters are
// the partner's is settled by the arms, not by the order asked for: compare(b, a) mirrors
// compare(a, b).
metrics::Comparison compare(const RunFindings& first,
                            const RunFindings& second,
                            const std::string& role,
                            const std::string& key);

struct ComparedNumber {
  std::string role;  // of the layer; "" for the whole network
  std::string key;
  double first = 0.0;
  double second = 0.0;
  metrics::Comparison comparison;
};

// What the comparison must be about; "": whatever both were measured on.
struct Wanted {
  std::string split;
  std::string data_hash;
  std::string data;                 // its folder, for the words
  std::vector<std::string> extras;  // options of the catalogue; empty: all that both have
};

// Every number both have. A run that was measured on something else than wanted, or lacks a wanted
// metric, is an Error with the command that mends it.
std::vector<ComparedNumber> compare_runs(const NamedFindings& first,
                                         const NamedFindings& second,
                                         const Wanted& wanted);

}  // namespace partwise::findings
