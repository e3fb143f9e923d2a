#pragma once

#include <set>
#include <string>

namespace partwise::experiments {

// Names for files of one folder, without their endings, made of words that may hold anything.
class FileStems {
 public:
  // The words where a file may be called so and none was; else as near to them as can be. Of long
  // words only the beginning is left.
  std::string take(const std::string& words);

 private:
  std::set<std::string> taken_;
};

}  // namespace partwise::experiments
