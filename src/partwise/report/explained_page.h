#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace partwise::report {

// A part's line in the table of one explained object; numbers as they are to be read.
struct ExplainedPart {
  std::string name;
  std::string share;     // of the evidence
  std::string logits;    // the same in logits, with its error
  std::string contrast;  // against the other class
  std::string silenced;  // what the score loses without this part
};

struct ExplainedObject {
  std::string title;    // the file, and which object of it
  std::string summary;  // the decision in one line
  std::string evidence;
  std::string how;  // the shares were found
  bool weak = false;
  std::string other;    // the class it is held against
  std::string picture;  // PNG bytes
  std::vector<ExplainedPart> parts;
};

// One offline page over explained photographs, all or nothing. `problems`: what could not be
// explained, one line each.
void write_explained_page(const std::string& title,
                          const std::vector<ExplainedObject>& objects,
                          const std::vector<std::string>& problems,
                          const std::filesystem::path& html);

}  // namespace partwise::report
