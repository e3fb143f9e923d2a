#pragma once

#include <optional>
#include <string>
#include <vector>

namespace partwise::experiments {

// A number of findings.json: of the whole network, of its first tapped layer (the backbone's top)
// or of its last (the new layer, where the arm has one).
struct Metric {
  enum class Place { network, first_layer, last_layer };
  std::string key;
  Place place = Place::last_layer;
};

// One column of a table. A binary table has one per category and, in most, their mean (category
// empty); a multi-category one has one a task loss.
struct Column {
  std::string loss;
  std::string category;
  std::string metric;  // its key
};

// A number the paper prints.
struct Figure {
  std::string net;
  std::string arm;
  Column column;
  double value = 0.0;
};

// One of the paper's tables: the grid of trainings behind it, and its figures.
struct PaperTable {
  std::string name;
  std::string what;                     // in a line
  std::string data;                     // how to come by the data
  bool binary = false;                  // one network per category against negatives
  std::vector<std::string> categories;  // of a binary table
  std::vector<std::string> nets;
  std::vector<std::string> arms;
  std::vector<std::string> losses;
  std::vector<Metric> metrics;
  std::vector<Figure> figures;
  std::string note;  // what must be known to compare
};

const std::vector<PaperTable>& paper_tables();

// An unknown name is an Error that lists the valid ones, one line each.
const PaperTable& find_table(std::string_view name);

// What the paper prints there, if anything.
std::optional<double> figure_of(const PaperTable& table,
                                const std::string& net,
                                const std::string& arm,
                                const Column& column);

}  // namespace partwise::experiments
