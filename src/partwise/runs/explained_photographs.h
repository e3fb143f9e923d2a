#pragma once

#include "partwise/runs/run_folder.h"

#include <filesystem>
#include <string>
#include <vector>

namespace partwise::runs {

// What one part gave a decision.
struct PartOfEvidence {
  std::string part;
  double share = 0.0;  // in logits
  std::string colour;  // of its outlines, "#e8590c"; "": it was not outlined
};

// A photograph explained by parts, for the first screen of its run's report. Outlined parts carry
// their place in `parts` as a number.
struct ExplainedPhotograph {
  std::string name;    // "typical": one of each
  std::string chosen;  // why it is here, in words
  std::string image;   // its file in the dataset
  std::string truth;
  std::string decision;
  double probability = 0.0;
  std::string other;  // the runner-up
  double other_probability = 0.0;
  std::string evidence_words;  // how strong it is
  double evidence = 0.0;       // what the shares add up to
  bool weak = false;
  std::vector<PartOfEvidence> parts = {};  // the largest first, whatever its sign

  std::filesystem::path file_in(const std::filesystem::path& run) const;
  bool right() const { return truth == decision; }
};

// explanations/explanations.json, with NAME.png beside it.
struct ExplainedPhotographs {
  std::string rule;        // how they were chosen, in words
  nlohmann::json made_of;  // what they follow from: others are drawn where this has changed
  std::vector<ExplainedPhotograph> photographs = {};
};

// Without photographs where there are none; an Error where the list is damaged.
ExplainedPhotographs explained_photographs(const RunFolder& run);
// In place of older ones.
//   pngs [photographs]
void record_explained(const RunFolder& run,
                      const ExplainedPhotographs& explained,
                      const std::vector<std::string>& pngs);
void forget_explained(const RunFolder& run);

}  // namespace partwise::runs
