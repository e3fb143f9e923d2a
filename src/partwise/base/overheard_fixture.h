#pragma once

#include "partwise/base/progress.h"

#include <memory>
#include <string>
#include <vector>

namespace partwise {

// Everything the library says while this lives.
class Overheard {
 public:
  struct Notes : Listener {
    void line(const std::string& text) override { lines.push_back(text); }
    void progress(const WorkDone& work) override { done.push_back(work.done); }
    void progress_ended() override { ++ended; }

    std::vector<std::string> lines;
    std::vector<int64_t> done;
    int ended = 0;
  };

  Overheard() : before_(set_listener(notes_)) {}
  ~Overheard() { set_listener(before_); }
  Overheard(const Overheard&) = delete;
  Overheard& operator=(const Overheard&) = delete;

  const Notes& notes() const { return *notes_; }
  const std::vector<std::string>& lines() const { return notes_->lines; }

 private:
  std::shared_ptr<Notes> notes_ = std::make_shared<Notes>();
  std::shared_ptr<Listener> before_;
};

}  // namespace partwise
