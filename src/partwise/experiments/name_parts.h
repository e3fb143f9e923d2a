#pragma once

#include "partwise/experiments/machine.h"

#include <string>
#include <vector>

namespace partwise::experiments {

// "new:12" and words, as people write them on the command line: new:12=snout.
struct FilterWords {
  std::string layer;
  int64_t filter = 0;
  std::string words;
};
// An Error shows how it is written.
FilterWords filter_words(const std::string& text);

struct NamesRequest {
  std::string run;
  std::string data;                // where parts are learnt; "": the run's own dataset
  bool learn = false;              // anew, even where they are known
  bool by_place = false;           // from places, even where the data knows parts
  std::vector<std::string> set;    // LAYER:FILTER=NAME; an empty name takes a given one back
  std::vector<std::string> note;   // LAYER:FILTER=TEXT
  std::vector<std::string> merge;  // PART+PART=PART
  bool forget = false;             // everything people said
};

// One filter as `partwise names` lists it.
struct NamedFilter {
  std::string layer;
  int64_t filter = 0;
  std::string category;
  std::string name;  // "": it stands for no part
  std::string from;  // "people", or how the program came to it
  double rate = 0.0;
  double control = 0.0;
  int64_t images = 0;
  std::string note;
};

// Changes what is asked for, if anything, and gives all names as they are then.
std::vector<NamedFilter> name_parts(const NamesRequest& request, const Machine& machine);

// The paper's table of semantics: per layer and category, the share of its filters of each name, as
// Markdown.
std::string semantics_table(const std::vector<NamedFilter>& filters);

}  // namespace partwise::experiments
