#pragma once

#include "partwise/report/findings.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::report {

// A run and what to call it in a table.
struct NamedFindings {
  std::string name;
  RunFindings findings;
};

// Findings as a table: one line a metric, one column a layer of a run. What is measured of the
// whole network stands in the column of the run's first layer.
struct FindingsGrid {
  struct Column {
    std::string run;
    std::string layer;
  };
  struct Line {
    std::string metric;  // its key
    std::vector<std::optional<Measure>> cells;
  };
  std::vector<Column> columns;
  std::vector<Line> lines;  // in the report's order, then those it does not know by name
};
FindingsGrid findings_grid(std::span<const NamedFindings> runs);

// What a reader must know: "95 % intervals over images and filters; run a: 40 test images, ...".
std::string table_notes(std::span<const NamedFindings> runs);

// "0.783"; "–" where there is none.
std::string plain_number(std::optional<double> value);

}  // namespace partwise::report
